/**
 * @internal A format of lists besides JSON. `"ndjson"` is one JSON text on each line (`application/x-ndjson`), and
 * `"csv"` is a table (`text/csv`).
 */
export type ListFormat = "ndjson" | "csv";
