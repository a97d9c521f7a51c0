export type JsonObject = { readonly [key: string]: unknown };

/** Tells whether a value is a JSON object: no array, no class of its own. */
export function isJsonObject(value: unknown): value is JsonObject {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Copies objects, lists and dates; what else they hold is shared. */
export function copyJson(value: unknown): unknown {
  if (value instanceof Date) return new Date(value);
  if (Array.isArray(value)) return value.map(copyJson);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copyJson(each)]));
}

/** Keys that reach the prototype of an object: nowhere do they name a field, and data under them is never shown. */
export const PROTOTYPE_KEYS: ReadonlySet<string> = new Set([
  "__proto__",
  "constructor",
  "prototype",
]);

/** Tells whether a key of a filter names a field: it is no operator, and nothing that the driver takes for something else. */
export function isFieldKey(key: string): boolean {
  return !key.startsWith("$") && !key.includes("\0") && !PROTOTYPE_KEYS.has(key) &&
    !MARK_KEYS.has(key);
}

/** Keys by which the driver and Mongoose know their own values: data that carried one would be taken for such a value. */
export const MARK_KEYS: ReadonlySet<string> = new Set(["_bsontype", "isMongooseBuffer"]);

export function isJson(value: unknown): boolean {
  return isJsonBelow(value, []);
}

function isJsonBelow(value: unknown, above: readonly unknown[]): boolean {
  // A value that holds itself has no text.
  if (above.includes(value)) return false;
  const isInner = (each: unknown) => isJsonBelow(each, [...above, value]);
  if (Array.isArray(value)) return value.every(isInner);
  if (isJsonObject(value)) return Object.values(value).every(isInner);
  return value === null || typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/** Whether a body gives a value to a path, or to an object around it that is no object in the body. */
export function namesPath(body: unknown, path: string): boolean {
  let at = body;
  for (const name of path.split(".")) {
    if (typeof at !== "object" || at === null) return at !== undefined;
    if (!Object.hasOwn(at, name)) return false;
    at = at[name as keyof object];
  }
  return true;
}
