/**
 * Writes JSON. A `bigint` is a string of digits.
 *
 * @param value The value.
 * @param place Where it is sent. A body leaves out what is `undefined`. A filter would select more without it.
 * @throws {TypeError} If JSON had to say less than the value, or `null` in its place.
 */
export function toJson(value: object, place: "body" | "q"): string {
  const paths = new WeakMap<object, string>();
  return JSON.stringify(value, function (this: Record<string, unknown>, key, each: unknown) {
    const above = paths.get(this);
    const path = above === undefined ? place : `${above}.${key}`;
    const lost = lostIn(each, {
      isDate: this[key] instanceof Date,
      isNeeded: place === "q" || Array.isArray(this),
    });
    if (lost !== undefined) throw new TypeError(`Cannot send ${path}: JSON has no ${lost}`);
    if (typeof each === "object" && each !== null) paths.set(each, path);
    return typeof each === "bigint" ? String(each) : each;
  });
}

interface Lost {
  /** Whether the value was a date, before it became text, or `null`. */
  readonly isDate: boolean;
  /** Whether it changes the meaning to leave the value out. */
  readonly isNeeded: boolean;
}

/** Names a value that JSON does not have. */
function lostIn(value: unknown, { isDate, isNeeded }: Lost): string | undefined {
  if (isDate && value === null) return "invalid Date";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  const isLeftOut = ["undefined", "function", "symbol"].includes(typeof value);
  return isLeftOut && isNeeded ? typeof value : undefined;
}
