/**
 * Writes a `bigint` as a string of digits, because `JSON.stringify()` throws at a `bigint`. An `undefined` property is
 * left out of a body, but throws in a filter, which would select more entities without it.
 *
 * @throws {TypeError} If JSON would lose content of the value or write `null` instead, as for `NaN` or a `Map`.
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
  /** Whether the value was a `Date`. `JSON.stringify()` makes `null` of an invalid date, so this `null` throws. */
  readonly isDate: boolean;
  /**
   * Whether `undefined` and functions throw. JSON would drop such a condition of a filter, and write `null` in a list.
   */
  readonly isNeeded: boolean;
  /**
   * Whether objects of classes, such as a `Map`, are refused, because JSON drops their content and a filter could
   * select more entities.
   */
  readonly isStrict: boolean;
}

function lostIn(value: unknown, { isDate, isNeeded, isStrict }: Lost): string | undefined {
  if (isDate && value === null) return "invalid Date";
  if (typeof value === "object" && value !== null) return lostOf(value, isStrict);
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  const isLeftOut = ["undefined", "function", "symbol"].includes(typeof value);
  return isLeftOut && isNeeded ? typeof value : undefined;
}

/** Returns the class of an object that JSON would write as `{}`. In a filter, objects of every class are refused. */
function lostOf(value: object, isStrict: boolean): string | undefined {
  if (Array.isArray(value)) return undefined;
  const above = Object.getPrototypeOf(value);
  // A plain object of another realm, such as an iframe, has another `Object.prototype`, so the prototype must not have
  // a prototype itself.
  const isPlain = above === null || Object.getPrototypeOf(above) === null;
  if (!isPlain && (isStrict || Object.keys(value).length === 0)) {
    return String(value.constructor?.name);
  }
  const symbols = Object.getOwnPropertySymbols({ ...value });
  return isStrict && symbols.length > 0 ? "symbol" : undefined;
}
