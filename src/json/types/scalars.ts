import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";

/** Gives the primitive in an object of the driver. */
export function unwrap(value: object): unknown {
  return value.valueOf();
}

export function regexToJson({ pattern, options }: { pattern: string; options: string }): string {
  return `/${pattern}/${options}`;
}

export function writeString(source: BsonReader, out: JsonWriter): void {
  const size = source.int32();
  out.string(source, source.at + size - 1);
  source.at++;
}

export function writeObjectId(source: BsonReader, out: JsonWriter): void {
  out.byte(0x22);
  out.hex(source, 12);
  out.byte(0x22);
}

export function writeBoolean(source: BsonReader, out: JsonWriter): void {
  out.ascii(source.bytes[source.at++] === 0 ? "false" : "true");
}

export function writeNull(_source: BsonReader, out: JsonWriter): void {
  out.ascii("null");
}
