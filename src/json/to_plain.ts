import { Buffer } from "node:buffer";
import { PROTOTYPE_KEYS } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { markOf, markOfSpread } from "../schema/mongoose/documents/mark_copies.ts";
import { shapeOfInstance } from "../schema/fields/shape_of_instance.ts";
import { describeShape } from "../schema/fields/shape.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";

/** A BSON value of the driver, told by its mark: it may come from another copy of the driver. */
interface BsonValue {
  readonly _bsontype: string;
  readonly "sub_type"?: number;
  readonly buffer?: Uint8Array;
  toString(): string;
  valueOf(): unknown;
  toJSON?(): unknown;
  toBigInt?(): bigint;
}

/**
 * Turns what a hook or the database gave into what the answer says: the JSON forms of all types, without secrets.
 *
 * int64 becomes a number up to 2^53 and a decimal string beyond, bytes become base64, identifiers and decimals text.
 *
 * @param shape The shape of the value, whose hidden fields are left out; plain copies are not exempt.
 */
export function toPlain(value: unknown, shape?: Shape): unknown {
  switch (typeof value) {
    case "bigint":
      return integer(value);
    case "object":
      return value === null ? null : fromObject(value, shape);
    case "function":
    case "symbol":
      return undefined;
    default:
      return value;
  }
}

function fromObject(value: object, shape: Shape | undefined): unknown {
  if (Array.isArray(value)) return Array.from(value, (each) => toPlain(each, shape) ?? null);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  // Stored data may have a key of that name; the driver's classes have it on their prototypes.
  if ("_bsontype" in value && !Object.hasOwn(value, "_bsontype")) {
    return fromBson(value as BsonValue);
  }
  if (isDocument(value)) return entries(value.toJSON(), describeShape(value.schema));
  if (value instanceof Uint8Array) {
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64");
  }
  if (value instanceof RegExp) return String(value);
  if (value instanceof Map) return entries(Object.fromEntries(value), shape);
  if (value instanceof Set) return Array.from(value, (each) => toPlain(each, shape) ?? null);
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return toPlain(value.toJSON(), shape);
  }
  if (isSpread(value)) return fromSpread(value, shape);
  const mark = markOf(value);
  return mark === undefined
    ? entries(value, shape, shapeOfInstance(value))
    : entries(withoutKeys(value, mark.undeclared), shape, describeShape(mark.schema));
}

/** `{ ...document }`: Mongoose's inside, with the stored values in `_doc`. */
interface Spread {
  readonly $__: unknown;
  readonly _doc: object;
}

function isSpread(value: object): value is Spread {
  return "$__" in value && "_doc" in value && typeof value._doc === "object";
}

/** What whoever spread a document meant: its declared values, under those that were put beside them. */
function fromSpread(spread: Spread, shape: Shape | undefined): object {
  const { _doc, ...own } = spread;
  const mark = markOfSpread(spread);
  const added = Object.entries(own).filter(([key]) => !/^(\$|__parentArray$|__index$)/.test(key));
  const values = mark === undefined ? _doc : withoutKeys(_doc, mark.undeclared);
  return entries(
    { ...values, ...Object.fromEntries(added) },
    shape,
    mark && describeShape(mark.schema),
  );
}

function withoutKeys(value: object, keys: ReadonlySet<string>): object {
  if (keys.size === 0) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.has(key)));
}

/**
 * Writes the entries of an object.
 *
 * @param shape The shape of what is expected in this place.
 * @param known The shape that the object itself is known to have. What either one hides is left out.
 */
function entries(value: object, shape: Shape | undefined, known?: Shape): object {
  const own = known === shape ? undefined : known;
  const joined = own?.joined ?? shape?.joined;
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(value)) {
    const expected = shape?.fields.get(key);
    const field = own?.fields.get(key) ?? expected;
    if (field?.hidden || expected?.hidden || PROTOTYPE_KEYS.has(key)) continue;
    const each: unknown = value[key as keyof typeof value];
    // A copy may stand under a key of the hook's own: its secrets are known by their names.
    const plain = isPlain(each)
      ? each
      : field === undefined
      ? toPlain(each, joined?.get(key) ?? shape)
      : fromField(each, field);
    if (plain !== undefined) result[key] = plain;
  }
  return result;
}

/** Whether a value is in JSON what it is, whatever its field. */
function isPlain(value: unknown): boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ||
    value === null;
}

function fromField(value: unknown, field: FieldShape): unknown {
  const { element } = field;
  if (
    field.kind === "map" && element !== undefined && typeof value === "object" && value !== null
  ) {
    const pairs = value instanceof Map ? [...value] : Object.entries(value);
    return Object.fromEntries(pairs.map(([key, each]) => [key, fromField(each, element)]));
  }
  if ((element ?? field).type?.instance === "Buffer") return fromBytes(value);
  return toPlain(
    value,
    field.shape ?? field.populated ?? element?.shape ?? element?.populated,
  );
}

/** Bytes, or what a document's own `toJSON` has made of them. */
function fromBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromBytes);
  const { data } = (value ?? {}) as { data?: unknown };
  return toPlain(Array.isArray(data) ? Buffer.from(data) : value);
}

function fromBson(value: BsonValue): unknown {
  switch (value._bsontype) {
    case "ObjectId":
    case "ObjectID":
    case "Decimal128":
    case "Timestamp":
      return value.toString();
    case "Long":
      return integer(value.toBigInt?.() ?? BigInt(value.toString()));
    case "Int32":
    case "Double":
      return value.valueOf();
    case "UUID":
      return value.toString();
    case "Binary":
      return binary(value);
    case "BSONRegExp": {
      const { pattern, options } = value as unknown as { pattern: string; options: string };
      return `/${pattern}/${options}`;
    }
    case "BSONSymbol":
      return value.valueOf();
    default:
      return toPlain({ ...value.toJSON?.() as object });
  }
}

function binary(value: BsonValue): string {
  if (value["sub_type"] === 4 && value.buffer?.length === 16) {
    const hex = Buffer.from(value.buffer).toString("hex");
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  }
  return value.toJSON?.() as string;
}

function integer(value: bigint): number | string {
  // 2^53 included: the driver, too, reads it as a number.
  return value >= -(2n ** 53n) && value <= 2n ** 53n ? Number(value) : String(value);
}
