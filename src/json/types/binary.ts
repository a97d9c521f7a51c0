import { Buffer } from "node:buffer";
import { readInt32, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";

const UUID_PARTS = [4, 2, 2, 2, 6] as const;

/** Base64, or the text of a UUID. */
export function binaryToJson(
  value: { readonly sub_type?: number; readonly buffer?: Uint8Array; toJSON?(): unknown },
): unknown {
  if (value.sub_type !== 4 || value.buffer?.length !== 16) return value.toJSON?.();
  const hex = Buffer.from(value.buffer).toString("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

export function bytesToJson({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

export function writeBinary(source: BsonReader, out: JsonWriter): void {
  if (holdsUuid(source)) writeText(source, out);
  else writeBase64(source, out);
}

export function writeBase64(source: BsonReader, out: JsonWriter): void {
  const size = source.int32();
  const subtype = source.bytes[source.at++];
  const bytes = source.take(size);
  out.byte(0x22);
  // Subtype 2 repeats its length inside.
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
