/**
 * The media types of more than one feature. A feature that adds another format, such as CSV, declares its media type by
 * itself.
 */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;
