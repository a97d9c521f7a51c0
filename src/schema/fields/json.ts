export type JsonObject = { readonly [key: string]: unknown };

/** Whether a value is a plain object, whose keys are data. Arrays and instances of classes are no plain objects. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Copies objects, arrays and dates recursively, so that a change of the copy does not change the original. Values of
 * other types are shared with the original.
 */
export function copyJson(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyJson(each)]));
}

/**
 * Keys that give access to the prototype of an object. Data under such a key could change the prototype. Such a key
 * never names a field, and responses leave out data under such a key.
 */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

/**
 * Whether a key in a filter or in free-form data can name a field. Operators, prototype keys, keys with a NUL character
 * and the keys in `MARK_KEYS` cannot name a field, so a filter with such a key in a value is refused.
 */
export function isFieldKey(key: string): boolean {
  return !key.startsWith("$") && !key.includes("\0") && !PROTOTYPE_KEYS.has(key) &&
    !MARK_KEYS.has(key);
}

/**
 * Keys by which the driver and Mongoose recognise their own value classes. The driver or Mongoose would treat an object
 * of a client with such a key as a value of that class.
 */
export const MARK_KEYS: ReadonlySet<string> = new Set(["_bsontype", "isMongooseBuffer"]);

export function isJson(value: unknown): boolean {
  return isJsonBelow(value, []);
}

function isJsonBelow(value: unknown, above: readonly unknown[]): boolean {
  // A circular value cannot be written as JSON. Without this check, the recursion would not end.
  if (above.includes(value)) return false;
  const isInner = (each: unknown) => isJsonBelow(each, [...above, value]);
  if (Array.isArray(value)) return value.every(isInner);
  if (isJsonObject(value)) return Object.values(value).every(isInner);
  return value === null || typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/**
 * Whether the body of a request sets the value at a path of an entity. A wrong value at this path is an error of the
 * client and not of the application. A body with another value in the place of an object also sets the paths in the
 * object, as `{ "address": null }` sets `address.city`. The path of an index has no positions of arrays: one element that
 * sets it is enough.
 */
export function namesPath(body: unknown, path: string): boolean {
  let at = body;
  const names = path.split(".");
  for (const [index, name] of names.entries()) {
    if (typeof at !== "object" || at === null) return at !== undefined;
    if (Array.isArray(at) && !/^\d+$/.test(name)) {
      const rest = names.slice(index).join(".");
      return at.some((each) => namesPath(each, rest));
    }
    if (!Object.hasOwn(at, name)) return false;
    at = at[name as keyof object];
  }
  return true;
}

/**
 * Returns the path of the first value in a JSON value that `matches` accepts. The path of the JSON value itself is the
 * empty text. Returns `undefined` if no value is accepted.
 */
export function findPath(
  root: unknown,
  matches: (value: unknown) => boolean,
): string | undefined {
  // The loop visits one depth at a time, because a recursion through deeply nested JSON could overflow the stack.
  let level: (readonly [path: string, value: unknown])[] = [["", root]];
  while (level.length > 0) {
    const next: typeof level = [];
    for (const [path, value] of level) {
      if (matches(value)) return path;
      if (!Array.isArray(value) && !isJsonObject(value)) continue;
      for (const [key, inner] of Object.entries(value)) {
        next.push([path === "" ? key : `${path}.${key}`, inner]);
      }
    }
    level = next;
  }
  return undefined;
}
