import { isJsonObject } from "./json.ts";

const DAY = /^\s*([+-]\d{6}|\d{4})-(\d{2})-(\d{2})/;

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Whether a text begins as a date in ISO form and names a day that the calendar does not have. */
export function namesNoDay(text: string): boolean {
  const found = DAY.exec(text);
  if (found === null) return false;
  const [year = 0, month = 0, day = 0] = found.slice(1).map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : DAYS_OF_MONTHS[month - 1] ?? 0;
  return day < 1 || day > days;
}

/**
 * Finds the path of a text, or of a key, with half of a surrogate pair in JSON. The driver would store another character
 * in its place, so that different texts became the same.
 */
export function loneSurrogateAt(root: unknown): string | undefined {
  // Level by level: JSON may be nested deeper than calls can be.
  let level: (readonly [path: string, value: unknown])[] = [["", root]];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const [path, value] of level) {
      if (typeof value === "string" && !value.isWellFormed()) return path;
      if (!Array.isArray(value) && !isJsonObject(value)) continue;
      for (const [key, inner] of Object.entries(value)) {
        if (!key.isWellFormed()) return path;
        next.push([path === "" ? key : `${path}.${key}`, inner]);
      }
    }
    level = next;
  }
  return undefined;
}
