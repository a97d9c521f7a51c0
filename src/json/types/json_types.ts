import mongoose from "mongoose";
import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";
import {
  binaryToJson,
  bytesToJson,
  dateToJson,
  longToJson,
  regexToJson,
  unwrap,
  writeBase64,
  writeBinary,
  writeBoolean,
  writeDate,
  writeDecimal,
  writeDouble,
  writeInt32,
  writeInt64,
  writeNull,
  writeObjectId,
  writeString,
  writeTimestamp,
  writeUuid,
} from "./json_forms.ts";

const { Types: Fields } = mongoose.Schema;

/** Writes the bytes of a value as JSON text and moves past them. There is room for 63 bytes. */
export type WriteBytes = (source: BsonReader, out: JsonWriter) => void;

interface JsonType {
  toJson?(value: object): unknown;
  /** The class of such objects, if it is JavaScript's. The driver's classes are known by name. */
  readonly of?: abstract new (...args: never[]) => object;
  readonly bson?: number;
  readonly write?: WriteBytes;
}

/** The types that have a JSON form of their own, by the `_bsontype` of the driver's class or the name of JavaScript's. */
const JSON_TYPES = {
  BSONRegExp: { toJson: regexToJson },
  BSONSymbol: { toJson: unwrap, bson: 0x0e, write: writeString },
  // The first of its BSON type: it writes bytes in free-form data.
  Binary: { toJson: binaryToJson, bson: 0x05, write: writeBinary },
  Boolean: { bson: 0x08, write: writeBoolean },
  Date: { toJson: dateToJson, of: Date, bson: 0x09, write: writeDate },
  Decimal128: { toJson: String, bson: 0x13, write: writeDecimal },
  Double: { toJson: unwrap, bson: 0x01, write: writeDouble },
  Int32: { toJson: unwrap, bson: 0x10, write: writeInt32 },
  Long: { toJson: longToJson, bson: 0x12, write: writeInt64 },
  Null: { bson: 0x0a, write: writeNull },
  ObjectId: { toJson: String, bson: 0x07, write: writeObjectId },
  // The name of the class in old drivers.
  ObjectID: { toJson: String },
  RegExp: { toJson: String, of: RegExp },
  String: { bson: 0x02, write: writeString },
  Timestamp: { toJson: String, bson: 0x11, write: writeTimestamp },
  UUID: { toJson: String, bson: 0x05, write: writeUuid },
  Uint8Array: { toJson: bytesToJson, of: Uint8Array, bson: 0x05, write: writeBase64 },
  Undefined: { bson: 0x06, write: writeNull },
} satisfies Readonly<Record<string, JsonType>>;

/** The types in which Mongoose stores fields, besides `Null`. What else a field holds, only Mongoose can write. */
const FIELDS: readonly [unknown, readonly (keyof typeof JSON_TYPES)[]][] = [
  [Fields.BigInt, ["Int32", "Long"]],
  [Fields.Boolean, ["Boolean"]],
  [Fields.Buffer, ["Uint8Array"]],
  [Fields.Date, ["Date"]],
  [Fields.Decimal128, ["Decimal128"]],
  [Fields.Double, ["Double", "Int32"]],
  [Fields.Int32, ["Int32"]],
  [Fields.Number, ["Double", "Int32", "Long"]],
  [Fields.ObjectId, ["ObjectId"]],
  [Fields.String, ["String"]],
  [Fields.UUID, ["UUID"]],
];

const TYPES: readonly JsonType[] = Object.values(JSON_TYPES);

/** The writers of bytes, by BSON type. */
export const WRITERS: readonly (WriteBytes | undefined)[] = Array.from(
  { length: 256 },
  (_, type) => TYPES.find(({ bson }) => bson === type)?.write,
);

/** How a field is stored if its value is as declared. */
export interface StoredAs {
  /** The BSON types, a bit each: `1 << type`. */
  readonly types: number;
  /** Writes bytes (BSON type 5) of any subtype in this field. */
  readonly bytes?: WriteBytes;
}

/** Returns how fields of a schema type are stored. A type of the user's own may store anything. */
export function storedAs(schemaType: unknown): StoredAs {
  const [, names = []] = FIELDS.find(([field]) => field === schemaType) ?? [];
  const types: JsonType[] = [JSON_TYPES.Null, ...names.map((name) => JSON_TYPES[name])];
  const bytes = types.find(({ bson }) => bson === JSON_TYPES.Binary.bson)?.write;
  const mask = types.reduce((all, { bson = 0 }) => all | 1 << bson, 0);
  return { types: mask, ...bytes && { bytes } };
}

/** Tells a value of the driver by its mark, because its class may come from another copy of the driver. */
export function isBson(value: object): value is { readonly _bsontype: string; toJSON?(): object } {
  // Stored data may have a key of that name; the driver's classes have it on their prototypes.
  return "_bsontype" in value && !Object.hasOwn(value, "_bsontype");
}

const OF_DRIVER = new Map<string, JsonType>(Object.entries(JSON_TYPES));
const OF_JAVASCRIPT = TYPES.flatMap((type) =>
  type.of === undefined ? [] : [{ ...type, of: type.of }]
);

/** Finds how an object is written; `undefined` for one that has no JSON form of its own. */
export function findJsonType(value: object): JsonType | undefined {
  if (isBson(value)) return OF_DRIVER.get(value._bsontype);
  for (const type of OF_JAVASCRIPT) if (value instanceof type.of) return type;
  return undefined;
}
