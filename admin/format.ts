import type { Value } from "./fields.ts";

/** Returns a single value as a text, in the words of the reader's language. */
export function inWords(value: unknown, { type, shown }: Value): string {
  if (type === "Date") return dateText(value);
  if (shown === undefined || typeof value !== "number") return String(value);
  return String(value);
}

function dateText(value: unknown): string {
  const date = new Date(String(value));
  return Number.isNaN(date.getTime()) ? String(value) : date.toLocaleString();
}
