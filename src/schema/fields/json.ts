export type JsonObject = { readonly [key: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Copies dates, arrays and plain objects, and shares other values. */
export function copyJson(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyJson(each)]));
}

/** Data under these keys could change the prototype of an object. */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

export function isFieldKey(key: string): boolean {
  return !key.startsWith("$") && !key.includes("\0") && !PROTOTYPE_KEYS.has(key) &&
    !MARK_KEYS.has(key);
}

/** The driver and Mongoose would take data with one of these keys for a value of their classes. */
export const MARK_KEYS: ReadonlySet<string> = new Set(["_bsontype", "isMongooseBuffer"]);

export function isJson(value: unknown): boolean {
  return isJsonBelow(value, []);
}

function isJsonBelow(value: unknown, above: readonly unknown[]): boolean {
  if (above.includes(value)) return false;
  const isInner = (each: unknown) => isJsonBelow(each, [...above, value]);
  if (Array.isArray(value)) return value.every(isInner);
  if (isJsonObject(value)) return Object.values(value).every(isInner);
  return value === null || typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/**
 * `{ "address": null }` in a body does not name `address.pin`, which it keeps if it is hidden. A path without array
 * positions means any element.
 */
export function namesPath(body: unknown, path: string): boolean {
  let at = body;
  const names = path.split(".");
  for (const [index, name] of names.entries()) {
    if (typeof at !== "object" || at === null) {
      return at !== undefined && names.slice(index).every((each) => POSITION.test(each));
    }
    if (Array.isArray(at) && !POSITION.test(name)) {
      const rest = names.slice(index).join(".");
      return at.some((each) => namesPath(each, rest));
    }
    if (!Object.hasOwn(at, name)) return false;
    at = at[name as keyof object];
  }
  return true;
}

const POSITION = /^\d+$/;

export function findPath(
  root: unknown,
  matches: (value: unknown) => boolean,
): string | undefined {
  // A recursion through deeply nested JSON could overflow the stack.
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
