import type { Value } from "./fields.ts";

const NUMBERS = ["Number", "Int32", "Double", "BigInt", "Decimal128"];

export function isNumber({ type, enum: allowed, model }: Value): boolean {
  return NUMBERS.includes(type) && allowed === undefined && model === undefined;
}

/** Values have the language and the time zone of the reader. */
export function inWords(value: unknown, field: Value): string {
  if (field.enum !== undefined) return choiceWords(value);
  if (field.type === "Date") return field.format === "date" ? dayWords(value) : dateWords(value);
  if (NUMBERS.includes(field.type)) return numberWords(value, field);
  return String(value);
}

/** `in_progress` becomes "In progress". */
export function choiceWords(value: unknown): string {
  const text = String(value);
  return /^[a-z]+([_-][a-z\d]+)*$/.test(text)
    ? text.charAt(0).toUpperCase() + text.slice(1).replaceAll(/[_-]/g, " ")
    : text;
}

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

export function dateWords(value: unknown): string {
  const date = new Date(String(value));
  return Number.isNaN(date.getTime()) ? String(value) : TIME.format(date);
}

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** A day is the same in every time zone. */
function dayWords(value: unknown): string {
  const date = new Date(String(value));
  return Number.isNaN(date.getTime()) ? String(value) : DAY.format(date);
}

function numberWords(value: unknown, { shown }: Value): string {
  const text = String(value);
  if (shown === "plain" || !/^-?\d+(\.\d+)?$/.test(text)) return text;
  const options: Intl.NumberFormatOptions = shown === "percent"
    ? { style: "percent", maximumFractionDigits: 2 }
    : shown !== undefined
    ? { style: "currency", currency: shown.currency }
    : { maximumFractionDigits: 20 };
  // A string keeps the digits of a decimal that no number has.
  return new Intl.NumberFormat(undefined, options).format(text as Intl.StringNumericLiteral);
}

/** The currency of a number, or its share, such as "= 25%" for 0.25. */
export function unitOf(value: unknown, field: Value): string | undefined {
  const { shown } = field;
  if (shown === undefined || shown === "plain") return undefined;
  if (shown === "percent") {
    return typeof value === "number" || value ? `= ${numberWords(value, field)}` : undefined;
  }
  const parts = new Intl.NumberFormat(undefined, { style: "currency", ...shown }).formatToParts(0);
  return parts.find(({ type }) => type === "currency")?.value;
}
