import mongoose from "mongoose";
import { Buffer } from "node:buffer";
import { dayOf } from "../schema/fields/date_only.ts";
import { Types } from "../schema/mongoose/bson.ts";
import { type BsonReader, readInt32, readInt64, UnknownTypeError } from "./bytes/bson_reader.ts";
import type { JsonWriter } from "./bytes/json_writer.ts";

const { Types: Fields } = mongoose.Schema;

/** 63 bytes of the output are reserved, so a value of a fixed size needs no check. */
export type WriteBytes = (source: BsonReader, out: JsonWriter) => void;

interface JsonType {
  toJson?(value: object): unknown;
  /** Missing for classes of the driver, which are found by the name in `_bsontype`. */
  readonly of?: abstract new (...args: never[]) => object;
  readonly bson?: number;
  readonly write?: WriteBytes;
}

const JSON_TYPES = {
  BSONRegExp: {
    toJson: ({ pattern, options }: { pattern: string; options: string }) =>
      `/${pattern}/${options}`,
  },
  BSONSymbol: { toJson: unwrap },
  // `Binary` stands before `UUID` and `Uint8Array`, because the first `write` of BSON type 5 is
  // used for free-form bytes.
  Binary: { toJson: binaryToJson, bson: 0x05, write: writeBinary },
  Boolean: { bson: 0x08, write: writeBoolean },
  Date: { toJson: dateToJson, of: Date, bson: 0x09, write: writeDate },
  Decimal128: { toJson: String, bson: 0x13, write: writeDecimal },
  Double: { toJson: unwrap, bson: 0x01, write: writeDouble },
  Int32: { toJson: unwrap, bson: 0x10, write: writeInt32 },
  Long: { toJson: longToJson, bson: 0x12, write: writeInt64 },
  Null: { bson: 0x0a, write: writeNull },
  ObjectId: { toJson: String, bson: 0x07, write: writeObjectId },
  RegExp: { toJson: String, of: RegExp },
  String: { bson: 0x02, write: writeString },
  Timestamp: { toJson: String, bson: 0x11, write: writeTimestamp },
  UUID: { toJson: String, bson: 0x05, write: writeUuid },
  Uint8Array: { toJson: bytesToJson, of: Uint8Array, bson: 0x05, write: writeBase64 },
} satisfies Readonly<Record<string, JsonType>>;

/**
 * The BSON types of a field besides `Null`. Mongoose writes a document with another type, because it casts the value.
 */
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

export const WRITERS: readonly (WriteBytes | undefined)[] = Array.from(
  { length: 256 },
  (_, type) => TYPES.find(({ bson }) => bson === type)?.write,
);

export interface StoredAs {
  /** The bit `1 << type` for each BSON type that the field may store. */
  readonly types: number;
  /** The field decides whether bytes are base64 or the text of a UUID. */
  readonly write?: WriteBytes;
}

export function storedAs(schemaType: unknown, isDateOnly = false): StoredAs {
  const [, names = []] = FIELDS.find(([field]) => field === schemaType) ?? [];
  const types: JsonType[] = [JSON_TYPES.Null, ...names.map((name) => JSON_TYPES[name])];
  const write = isDateOnly
    ? writeDateOnly
    : types.find(({ bson }) => bson === JSON_TYPES.Binary.bson)?.write;
  const mask = types.reduce((all, { bson = 0 }) => all | 1 << bson, 0);
  return { types: mask, ...write && { write } };
}

export function isBson(value: object): value is { readonly _bsontype: string; toJSON?(): object } {
  // Classes of the driver have `_bsontype` on their prototype. As an own key, it is stored data.
  return "_bsontype" in value && !Object.hasOwn(value, "_bsontype");
}

const OF_DRIVER = new Map<string, JsonType>(Object.entries(JSON_TYPES));
const OF_JAVASCRIPT = TYPES.flatMap((type) =>
  type.of === undefined ? [] : [{ ...type, of: type.of }]
);

export function findJsonType(value: object): JsonType | undefined {
  if (isBson(value)) return OF_DRIVER.get(value._bsontype);
  for (const type of OF_JAVASCRIPT) if (value instanceof type.of) return type;
  return undefined;
}

function unwrap(value: object): unknown {
  return value.valueOf();
}

function writeString(source: BsonReader, out: JsonWriter): void {
  const size = source.int32();
  out.string(source, source.at + size - 1);
  source.at++;
}

function writeObjectId(source: BsonReader, out: JsonWriter): void {
  out.byte(0x22);
  out.hex(source, 12);
  out.byte(0x22);
}

function writeBoolean(source: BsonReader, out: JsonWriter): void {
  out.ascii(source.bytes[source.at++] === 0 ? "false" : "true");
}

function writeNull(_source: BsonReader, out: JsonWriter): void {
  out.ascii("null");
}

/** The driver reads an int64 up to this value as a number. */
const MAX_NUMBER = 2 ** 53;

export function integerToJson(value: bigint): number | string {
  return value >= -MAX_NUMBER && value <= MAX_NUMBER ? Number(value) : String(value);
}

function longToJson(
  value: { toBigInt?(): bigint; toString(): string },
): number | string {
  return integerToJson(value.toBigInt?.() ?? BigInt(value.toString()));
}

function writeDouble(source: BsonReader, out: JsonWriter): void {
  const value = source.bytes.readDoubleLE(source.at);
  source.at += 8;
  out.ascii(Number.isFinite(value) ? String(value) : "null");
}

function writeInt32(source: BsonReader, out: JsonWriter): void {
  out.ascii(String(source.int32()));
}

function writeInt64(source: BsonReader, out: JsonWriter): void {
  const value = readInt64(source.bytes, source.at);
  if (Math.abs(value) < MAX_NUMBER) out.ascii(String(value));
  else out.ascii(JSON.stringify(integerToJson(source.bytes.readBigInt64LE(source.at))));
  source.at += 8;
}

/** A JSON number would lose digits of the 64 bits. */
function writeTimestamp(source: BsonReader, out: JsonWriter): void {
  out.ascii(`"${source.bytes.readBigUInt64LE(source.at)}"`);
  source.at += 8;
}

function writeDecimal(source: BsonReader, out: JsonWriter): void {
  out.ascii(`"${new Types.Decimal128(source.take(16))}"`);
}

const DAY = 86_400_000;

/** The range of a `Date` in milliseconds around 1970. JSON shows `null` for a stored date beyond. */
export const TIME_RANGE = 8_640_000_000_000_000;

/** The faster code writes four digits for a year. It leaves dates beyond these limits to `Date`. */
const FIRST = -62_135_596_800_000;
const LAST = 253_402_300_799_999;

/** This takes a third of the time of `Date.prototype.toJSON()`. */
export function dateToJson(value: Date): string | null {
  const time = value.getTime();
  const isUsual = time >= FIRST && time <= LAST && value.toJSON === Date.prototype.toJSON;
  if (!isUsual) return value.toJSON();
  const year = String(value.getUTCFullYear()).padStart(4, "0");
  const day = `${year}-${two(value.getUTCMonth() + 1)}-${two(value.getUTCDate())}`;
  const hour = `${two(value.getUTCHours())}:${two(value.getUTCMinutes())}`;
  const fraction = String(value.getUTCMilliseconds()).padStart(3, "0");
  return `${day}T${hour}:${two(value.getUTCSeconds())}.${fraction}Z`;
}

export function dayToJson(value: Date): string | null {
  const time = dateToJson(value);
  return time === null ? null : dayOf(time);
}

function two(digits: number): string {
  return digits < 10 ? `0${digits}` : String(digits);
}

function writeDate(source: BsonReader, out: JsonWriter): void {
  const time = readInt64(source.bytes, source.at);
  source.at += 8;
  if (time >= FIRST && time <= LAST) return writeUsualDate(time, out);
  out.ascii(Math.abs(time) <= TIME_RANGE ? `"${new Date(time).toISOString()}"` : "null");
}

function writeDateOnly(source: BsonReader, out: JsonWriter): void {
  const time = readInt64(source.bytes, source.at);
  source.at += 8;
  if (time < FIRST || time > LAST) return out.ascii(JSON.stringify(dayToJson(new Date(time))));
  out.byte(0x22);
  writeDay(Math.floor(time / DAY), out);
  out.byte(0x22);
}

/** With dates, documents take 49 % longer with the UTC getters of `Date`, and 180 % longer with `toISOString()`. */
function writeUsualDate(time: number, out: JsonWriter): void {
  const days = Math.floor(time / DAY);
  const rest = time - days * DAY;
  const seconds = (rest / 1000) | 0;
  const minutes = (seconds / 60) | 0;
  const hours = (minutes / 60) | 0;
  out.byte(0x22);
  writeDay(days, out);
  out.byte(0x54);
  out.digits(hours, 2);
  out.byte(0x3a);
  out.digits(minutes - hours * 60, 2);
  out.byte(0x3a);
  out.digits(seconds - minutes * 60, 2);
  out.byte(0x2e);
  out.digits(rest - seconds * 1000, 3);
  out.byte(0x5a);
  out.byte(0x22);
}

/** `days` counts from 1970-01-01. Years begin on March 1, so that a leap day is their last day. */
function writeDay(days: number, out: JsonWriter): void {
  const shifted = days + 719_468;
  const era = (shifted / 146_097) | 0;
  const dayOfEra = shifted - era * 146_097;
  const leaps = ((dayOfEra / 1460) | 0) - ((dayOfEra / 36_524) | 0) + ((dayOfEra / 146_096) | 0);
  const yearOfEra = ((dayOfEra - leaps) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const monthFromMarch = ((5 * dayOfYear + 2) / 153) | 0;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  out.digits(year, 4);
  out.byte(0x2d);
  out.digits(month, 2);
  out.byte(0x2d);
  out.digits(dayOfYear - (((153 * monthFromMarch + 2) / 5) | 0) + 1, 2);
}

const UUID_PARTS = [4, 2, 2, 2, 6] as const;

function binaryToJson(
  value: { readonly sub_type?: number; readonly buffer?: Uint8Array; toJSON?(): unknown },
): unknown {
  if (value.sub_type !== 4 || value.buffer?.length !== 16) return value.toJSON?.();
  const hex = Buffer.from(value.buffer).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

function bytesToJson({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

function writeBinary(source: BsonReader, out: JsonWriter): void {
  if (holdsUuid(source)) writeText(source, out);
  else writeBase64(source, out);
}

export function writeBase64(source: BsonReader, out: JsonWriter): void {
  const size = source.int32();
  const subtype = source.bytes[source.at++];
  const bytes = source.take(size);
  out.byte(0x22);
  // The bytes of subtype 2 begin with a second length.
  out.ascii((subtype === 2 ? bytes.subarray(4) : bytes).toString("base64"));
  out.reserve(1);
  out.byte(0x22);
}

export function writeUuid(source: BsonReader, out: JsonWriter): void {
  if (!holdsUuid(source)) throw new UnknownTypeError("Cannot write bytes as a UUID");
  writeText(source, out);
}

function holdsUuid({ bytes, at }: BsonReader): boolean {
  return readInt32(bytes, at) === 16 && bytes[at + 4] === 4;
}

function writeText(source: BsonReader, out: JsonWriter): void {
  source.at += 5;
  out.byte(0x22);
  for (const [index, count] of UUID_PARTS.entries()) {
    if (index > 0) out.byte(0x2d);
    out.hex(source, count);
  }
  out.byte(0x22);
}
