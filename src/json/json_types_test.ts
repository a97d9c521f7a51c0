import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { BsonReader } from "./bytes/bson_reader.ts";
import { JsonWriter } from "./bytes/json_writer.ts";
import { toJson } from "./to_json.ts";
import { Transcoder } from "./transcode/transcoder.ts";
import { storedAs } from "./json_types.ts";

const { Binary, BSON, Decimal128, Double, Int32, Long, ObjectId, Timestamp, UUID } = mongoose.mongo;
const { Types } = mongoose.Schema;

/** Values of every type that has a JSON form in both ways. */
const VALUES: Record<string, readonly unknown[]> = {
  Double: [new Double(0.5), new Double(-0), new Double(NaN), 1e300],
  Int32: [new Int32(7), -1],
  Long: [Long.fromString("9007199254740992"), Long.fromString("-9223372036854775808"), 5n],
  Decimal128: [Decimal128.fromString("1.10"), Decimal128.fromString("-1E+3")],
  ObjectId: [new ObjectId("0123456789abcdef01234567")],
  UUID: [new UUID("01234567-89ab-4def-8123-456789abcdef")],
  Binary: [new Binary(Buffer.from("abc")), new Binary(Buffer.alloc(16, 1), 4)],
  Buffer: [Buffer.from("abc"), new Uint8Array([1, 2])],
  Date: [new Date("2020-01-02T03:04:05.678Z"), new Date(-1), new Date("-000001-01-01")],
  Timestamp: [Timestamp.fromString("18446744073709551615", 10)],
  String: ["", 'é"\n'],
  Boolean: [true, false],
  Null: [null],
};

for (const [name, values] of Object.entries(VALUES)) {
  Deno.test(`values of type ${name} become the same JSON from objects as from bytes`, () => {
    for (const v of values) {
      const bytes = Buffer.from(BSON.serialize({ v }));
      const out = new JsonWriter(1);
      new Transcoder(new BsonReader(bytes), { out }).document();
      assertEquals(out.written.toString(), toJson({ v }));
    }
  });
}

/** A value for a field of each schema type of Mongoose that holds one value. */
const FIELDS: readonly [{ new (name: string): mongoose.SchemaType }, unknown][] = [
  [Types.String, "x"],
  [Types.Number, 5],
  [Types.Number, 0.5],
  [Types.Number, 2 ** 40],
  [Types.Double, 0.5],
  [Types.Int32, 5],
  [Types.Boolean, true],
  [Types.Date, new Date(0)],
  [Types.BigInt, 5n],
  [Types.ObjectId, new ObjectId()],
  [Types.Decimal128, "1.10"],
  [Types.UUID, "01234567-89ab-4def-8123-456789abcdef"],
  [Types.Buffer, Buffer.from("abc")],
];

Deno.test("storedAs() knows in which BSON type Mongoose stores a field", () => {
  for (const [Type, value] of FIELDS) {
    const v: unknown = new Type("v").cast(value);
    const [, , , , type = 0] = BSON.serialize({ v });
    assert((storedAs(Type).types >>> type & 1) === 1, `${Type.name}: ${type}`);
    assertEquals(storedAs(Type).types >>> 0x0a & 1, 1, `${Type.name}: null`);
  }
});

Deno.test("storedAs() allows only null for a type that it does not know", () => {
  class Own extends Types.String {}
  assertEquals(storedAs(Own), { types: 1 << 0x0a });
  assertEquals(storedAs(undefined), { types: 1 << 0x0a });
});
