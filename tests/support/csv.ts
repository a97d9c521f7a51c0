import { assert } from "@std/assert";

/** Reads a table of RFC 4180, and throws for another. A missing value is `null`, unlike an empty string. */
export function readCsv(text: string): (string | null)[][] {
  const rows: (string | null)[][] = [];
  const cell = /("((?:[^"]|"")*)"|[^",\r\n]*)(,|\r\n)/y;
  let row: (string | null)[] = [];
  while (cell.lastIndex < text.length) {
    const at = cell.lastIndex;
    const [, whole = "", quoted, end] = cell.exec(text) ?? [];
    assert(end !== undefined, `no cell at ${JSON.stringify(text.slice(at, at + 40))}`);
    row.push(quoted?.replaceAll('""', '"') ?? (whole === "" ? null : whole));
    if (end === ",") continue;
    rows.push(row);
    row = [];
  }
  return rows;
}

/** The rows of a table as objects, by the names of its columns. */
export function rowsOf(text: string): Record<string, string | null>[] {
  const [names = [], ...rows] = readCsv(text);
  return rows.map((row) => {
    assert(row.length === names.length);
    return Object.fromEntries(row.map((cell, index) => [names[index], cell]));
  });
}
