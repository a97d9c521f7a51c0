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
      isStrict: place === "q",
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
  /** Whether objects of classes are refused, too. */
  readonly isStrict: boolean;
}

/** Names a value that JSON does not have. */
function lostIn(value: unknown, { isDate, isNeeded, isStrict }: Lost): string | undefined {
  if (isDate && value === null) return "invalid Date";
  if (typeof value === "object" && value !== null) return lostOf(value, isStrict);
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  const isLeftOut = ["undefined", "function", "symbol"].includes(typeof value);
  return isLeftOut && isNeeded ? typeof value : undefined;
}

/** Names an object that JSON would empty, such as a `Map`. In a filter, all but plain objects and lists would select more. */
function lostOf(value: object, isStrict: boolean): string | undefined {
  if (Array.isArray(value)) return undefined;
  const above = Object.getPrototypeOf(value);
  // That of another page has another `Object.prototype`.
  const isPlain = above === null || Object.getPrototypeOf(above) === null;
  if (!isPlain && (isStrict || Object.keys(value).length === 0)) {
    return String(value.constructor?.name);
  }
  const symbols = Object.getOwnPropertySymbols({ ...value });
  return isStrict && symbols.length > 0 ? "symbol" : undefined;
}
