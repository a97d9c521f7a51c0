import type { Buffer } from "node:buffer";
import { Types } from "../../schema/mongoose/bson.ts";
import type { JsonWriter } from "./json_writer.ts";

/** Writes a double: what JSON cannot say is `null`. */
export function writeDouble(out: JsonWriter, value: number): void {
  if ((value | 0) === value) writeInteger(out, value | 0);
  else out.ascii(Number.isFinite(value) ? String(value) : "null");
}

/** Writes an int32. */
export function writeInteger(out: JsonWriter, value: number): void {
  if (value >= 0 && value < 10) out.byte(0x30 + value);
  else out.ascii(String(value));
}

/** What JavaScript's numbers can hold, 2^53 included: the driver, too, reads it as a number. */
const EXACT = 2 ** 53;

/** Writes an int64: a number up to 2^53, decimal text beyond. */
export function writeLong(out: JsonWriter, source: Buffer, at: number): void {
  const value = source.readInt32LE(at + 4) * 0x1_0000_0000 + source.readUInt32LE(at);
  const exact = Math.abs(value) < EXACT ||
    (Math.abs(value) === EXACT && source.readBigInt64LE(at) === BigInt(value));
  out.ascii(exact ? String(value) : `"${source.readBigInt64LE(at)}"`);
}

/** Writes a timestamp of the database: 64 bits without a sign, as text. */
export function writeUnsigned(out: JsonWriter, source: Buffer, at: number): void {
  out.ascii(`"${source.readBigUInt64LE(at)}"`);
}

/** Writes a decimal as text. */
export function writeDecimal(out: JsonWriter, source: Buffer, at: number): void {
  out.ascii(`"${new Types.Decimal128(source.subarray(at, at + 16))}"`);
}
