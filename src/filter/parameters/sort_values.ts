import { isJsonObject } from "../../schema/fields/json.ts";

/** Options of the driver that keep the type, the digits and the flags of each value that `seek()` compares with. */
export const SEEK_READ = { promoteValues: false, bsonRegExp: true } as const;

export type SortValues = Readonly<Record<string, unknown>>;

export function sortValues(stored: object, paths: readonly string[]): SortValues {
  return Object.fromEntries(paths.map((path) => [path, valueAt(stored, path)]));
}

/** Gives what is stored at a path; `null` where nothing is, and `undefined` for what BSON calls so. */
export function valueAt(stored: unknown, path: string): unknown {
  return valueBelow(stored, path.split("."));
}

function valueBelow(value: unknown, [name, ...names]: readonly string[]): unknown {
  if (name === undefined) return value;
  if (Array.isArray(value) && value.length > 0) {
    // The database sorts by the first of all values that a list of objects has at a path.
    return value.flatMap((each) => {
      const inner = Array.isArray(each) ? null : valueBelow(each, [name, ...names]);
      return Array.isArray(inner) && inner.length === 0 ? [undefined] : inner;
    });
  }
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return null;
  return valueBelow(value[name], names);
}

/** Whether a stored value is a date that JavaScript cannot hold. */
function isFarDate(value: unknown): boolean {
  return value instanceof Date && Number.isNaN(value.getTime());
}

const JS_TYPES: Readonly<Record<string, string>> = {
  undefined: "undefined",
  number: "number",
  bigint: "number",
  string: "string",
  boolean: "bool",
};

const BSON_TYPES: Readonly<Record<string, string>> = {
  MinKey: "minKey",
  Int32: "number",
  Long: "number",
  Double: "number",
  Decimal128: "number",
  BSONSymbol: "symbol",
  Binary: "binData",
  ObjectId: "objectId",
  Timestamp: "timestamp",
  BSONRegExp: "regex",
  MaxKey: "maxKey",
};

/** Gives the alias of a value's BSON type; that of all numbers is `number`. */
export function typeOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value !== "object") return JS_TYPES[typeof value] ?? "object";
  if (value instanceof Date) return "date";
  if (value instanceof RegExp) return "regex";
  if (value instanceof Uint8Array) return "binData";
  const { _bsontype, scope } = value as { _bsontype?: string; scope?: unknown };
  if (_bsontype === "Code") return scope ? "javascriptWithScope" : "javascript";
  return BSON_TYPES[_bsontype ?? ""] ?? "object";
}

const SCALARS: ReadonlySet<string> = new Set([
  ...["null", "number", "string", "binData", "objectId", "bool", "date"],
]);

/** Whether a value is of one of the types that fields are declared with, and as exact here as it is stored. */
export function isScalar(value: unknown): boolean {
  return SCALARS.has(typeOf(value)) && !isFarDate(value);
}
