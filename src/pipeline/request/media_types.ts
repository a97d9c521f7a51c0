/** The media types that the framework writes and reads by itself. Features may add other types to an operation. */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;
