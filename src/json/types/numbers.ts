import { Types } from "../../schema/mongoose/bson.ts";
import { readInt64 } from "../bytes/bson_reader.ts";
import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";

/** The greatest integer that is written as a number. It is not safe in JavaScript, but the driver reads it as a number. */
const GREATEST = 2 ** 53;

/** A number up to 2^53, decimal text beyond. */
export function integerToJson(value: bigint): number | string {
  return value >= -GREATEST && value <= GREATEST ? Number(value) : String(value);
}

export function longToJson(
  value: { toBigInt?(): bigint; toString(): string },
): number | string {
  return integerToJson(value.toBigInt?.() ?? BigInt(value.toString()));
}

export function writeDouble(source: BsonReader, out: JsonWriter): void {
  const value = source.bytes.readDoubleLE(source.at);
  source.at += 8;
  out.ascii(Number.isFinite(value) ? String(value) : "null");
}

export function writeInt32(source: BsonReader, out: JsonWriter): void {
  out.ascii(String(source.int32()));
}

export function writeInt64(source: BsonReader, out: JsonWriter): void {
  const value = readInt64(source.bytes, source.at);
  if (Math.abs(value) < GREATEST) out.ascii(String(value));
  else out.ascii(JSON.stringify(integerToJson(source.bytes.readBigInt64LE(source.at))));
  source.at += 8;
}

/** A timestamp of the database has 64 bits without a sign. */
export function writeTimestamp(source: BsonReader, out: JsonWriter): void {
  out.ascii(`"${source.bytes.readBigUInt64LE(source.at)}"`);
  source.at += 8;
}

export function writeDecimal(source: BsonReader, out: JsonWriter): void {
  out.ascii(`"${new Types.Decimal128(source.take(16))}"`);
}
