/** A table: its head and its rows, all of one length. */
export interface Table {
  /** The names of the columns. */
  readonly head: readonly string[];
  /** The rows; the first column names a row, the others hold figures. */
  readonly rows: readonly (readonly string[])[];
}

/** Shows a table on a terminal. */
export function toText({ head, rows }: Table): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ").trimEnd()
  );
  return [lines[0], widths.map((width) => "-".repeat(width)).join("  "), ...lines.slice(1)]
    .join("\n");
}

/** Shows a table in Markdown. */
export function toMarkdown({ head, rows }: Table): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const rule = line(head.map((_, column) => column === 0 ? "---" : "---:"));
  return [line(head), rule, ...rows.map(line)].join("\n");
}

/** Shows a figure with three digits that count; a dash where there is none. */
export function show(value: number | undefined, digits: number = 3): string {
  if (value === undefined || !Number.isFinite(value)) return "–";
  if (value >= 10 ** digits) return Math.round(value).toLocaleString("en-US");
  const fraction = Math.max(0, digits - 1 - Math.floor(Math.log10(Math.max(value, 1e-9))));
  return value.toFixed(Math.min(fraction, digits));
}

/** Shows a ratio: two digits behind the point. */
export function showRatio(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? "–" : value.toFixed(2);
}
