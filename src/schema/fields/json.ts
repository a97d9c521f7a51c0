/** A JSON object, as `JSON.parse` gives it. */
export type JsonObject = { readonly [key: string]: unknown };

/** Tells whether a value is a JSON object: no array, no class of its own. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Keys that reach the prototype of an object: nowhere do they name a field. */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

/** Tells whether a key of a filter is a mere name: no operator, and nothing that the driver would stumble over. */
export function isPlainKey(key: string): boolean {
  return !key.startsWith("$") && !key.includes("\0") && !PROTOTYPE_KEYS.has(key) &&
    !MARK_KEYS.has(key);
}

/** Keys by which the driver and Mongoose know their own values: data that carried one would be taken for such a value. */
export const MARK_KEYS: ReadonlySet<string> = new Set(["_bsontype", "isMongooseBuffer"]);
