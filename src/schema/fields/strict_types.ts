import { Buffer } from "node:buffer";
import { namesNoDay } from "./texts.ts";

export interface StrictType {
  readonly words: string;
  /** Without a type, only strings that match `pattern` are accepted. */
  readonly type?: "string" | "number" | "integer" | "boolean";
  readonly pattern?: string;
}

const TIME = "[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]+)?";
const OFFSET = "([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])";

export const STRICT_DATE = "[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])";

/** A date-time of RFC 3339 without leap seconds, which JavaScript cannot read. */
export const STRICT_DATE_TIME = `${STRICT_DATE}${TIME}${OFFSET}`;

/** Base64 with padding and without unused bits. */
const BASE64 = "([0-9a-zA-Z+/]{4})*([0-9a-zA-Z+/][AQgw]==|[0-9a-zA-Z+/]{2}[AEIMQUYcgkosw048]=)?";

const DIGITS = digitsUpTo("9223372036854775807");
const INT64 = `(${DIGITS}|-(${DIGITS}|9223372036854775808))`;

export const STRICT_TYPES: Readonly<Record<string, StrictType>> = {
  String: { words: "a text", type: "string" },
  Number: { words: "a number", type: "number" },
  Double: { words: "a number", type: "number" },
  Int32: { words: "an integer", type: "integer" },
  Boolean: { words: "true or false", type: "boolean" },
  Date: {
    words: "a date such as 2026-01-31, or a time with its offset such as 2026-01-31T10:00:00Z",
    pattern: `${STRICT_DATE}(${TIME}${OFFSET})?`,
  },
  DateOnly: { words: "a date without a time, such as 2026-01-31", pattern: STRICT_DATE },
  BigInt: { words: "an integer or a text of digits", type: "integer", pattern: INT64 },
  Decimal128: {
    words: "a number or the text of a decimal number",
    type: "number",
    pattern: "[+-]?([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]+)?|-?Infinity|NaN",
  },
  ObjectId: { words: "24 digits of lower-case hexadecimal", pattern: "[0-9a-f]{24}" },
  UUID: {
    words: "a UUID in lower case",
    pattern: "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
  },
  Buffer: { words: "bytes in base64", pattern: BASE64 },
};

/** A regular expression cannot compare numbers, so digits are compared from the left. */
function digitsUpTo(most: string): string {
  const smaller = [...most].map((digit, index) => {
    const rest = most.length - index - 1;
    const last = rest === 0 ? Number(digit) : Number(digit) - 1;
    return last < 0
      ? []
      : `${most.slice(0, index)}[0-${last}]${rest === 0 ? "" : `[0-9]{${rest}}`}`;
  });
  return `([0-9]{1,${most.length - 1}}|${smaller.flat().join("|")})`;
}

const WHOLE = new Map(
  Object.entries(STRICT_TYPES).map(([name, { pattern }]) =>
    [name, pattern === undefined ? undefined : new RegExp(`^(${pattern})$`)] as const
  ),
);

const DATES: ReadonlySet<string> = new Set(["Date", "DateOnly"]);

/** Checks no range, because a later cast does. */
export function isOfJsonType(value: unknown, name: string): boolean {
  // A regular expression could exhaust its stack at many megabytes of base64.
  if (name === "Buffer") {
    return typeof value === "string" && Buffer.from(value, "base64").toString("base64") === value;
  }
  const { type } = STRICT_TYPES[name] ?? {};
  const pattern = WHOLE.get(name);
  if (typeof value === "string" && pattern !== undefined) {
    return pattern.test(value) && !(DATES.has(name) && namesNoDay(value));
  }
  if (type === "integer") return Number.isInteger(value);
  const typeOfValue: string = typeof value;
  return typeOfValue === type;
}
