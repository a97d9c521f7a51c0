/**
 * Returns the JSON of a body or a filter. A `bigint` is written as a string of digits, because `JSON.stringify()`
 * throws at a `bigint`.
 *
 * @param value The body or the filter.
 * @param place Where the value is sent. In a body, a property that is `undefined` is left out. In a filter, such a
 * property throws, because the filter would select more entities without it.
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
  /**
   * Whether the value is a `Date`. `JSON.stringify()` converts an invalid date to `null` before the check, so the type
   * of the original value is needed.
   */
  readonly isDate: boolean;
  /**
   * Whether a value that JSON leaves out or replaces by `null` is an error. In a filter, JSON would drop a condition.
   * In a list, JSON would put `null` in the place of the value.
   */
  readonly isNeeded: boolean;
  /**
   * Whether objects of classes, such as a `Map`, are refused. JSON drops their content, and a filter without this
   * content could select more entities.
   */
  readonly isStrict: boolean;
}

/**
 * Returns the name of a value that JSON cannot represent, such as `NaN`, for the message of an error. Returns
 * `undefined` for a value that can be sent.
 */
function lostIn(value: unknown, { isDate, isNeeded, isStrict }: Lost): string | undefined {
  if (isDate && value === null) return "invalid Date";
  if (typeof value === "object" && value !== null) return lostOf(value, isStrict);
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  const isLeftOut = ["undefined", "function", "symbol"].includes(typeof value);
  return isLeftOut && isNeeded ? typeof value : undefined;
}

/**
 * Returns the name of the class of an object that JSON would write as `{}`, such as a `Map`, for the message of an
 * error. In a filter, every object of a class is refused, because the filter could select more entities without its
 * content. Returns `undefined` for an object that can be sent.
 */
function lostOf(value: object, isStrict: boolean): string | undefined {
  if (Array.isArray(value)) return undefined;
  const above = Object.getPrototypeOf(value);
  // A plain object of another realm, such as an iframe, has another `Object.prototype`. The check therefore asks
  // whether the prototype has a prototype itself.
  const isPlain = above === null || Object.getPrototypeOf(above) === null;
  if (!isPlain && (isStrict || Object.keys(value).length === 0)) {
    return String(value.constructor?.name);
  }
  const symbols = Object.getOwnPropertySymbols({ ...value });
  return isStrict && symbols.length > 0 ? "symbol" : undefined;
}
