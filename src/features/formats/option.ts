/** @internal A format of lists: JSON on each line (`application/x-ndjson`), or a table (`text/csv`). */
export type ListFormat = "ndjson" | "csv";
