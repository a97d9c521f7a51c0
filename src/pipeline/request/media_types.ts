/**
 * The media types that the framework uses in several places. A format of a single feature, such as CSV, is declared by
 * this feature.
 */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
} as const;
