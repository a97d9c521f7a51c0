import { findPath, isJsonObject } from "./json.ts";

const DAY = /^\s*([+-]\d{6}|\d{4})-(\d{2})-(\d{2})/;

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** JavaScript would read the date 2023-02-30 as the second of March. */
export function namesNoDay(text: string): boolean {
  const found = DAY.exec(text);
  if (found === null) return false;
  const [year = 0, month = 0, day = 0] = found.slice(1).map(Number);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = month === 2 && isLeap ? 29 : DAYS_OF_MONTHS[month - 1] ?? 0;
  // JavaScript would read "-000000-01-01" as a day of 2001.
  return day < 1 || day > days || found[1] === "-000000";
}

/** The driver would replace half of a surrogate pair, and different strings would become equal. */
export function loneSurrogateAt(root: unknown): string | undefined {
  return findPath(
    root,
    (value) =>
      typeof value === "string"
        ? !value.isWellFormed()
        : isJsonObject(value) && Object.keys(value).some((key) => !key.isWellFormed()),
  );
}
