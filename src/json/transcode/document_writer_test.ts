import { assert, assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { BsonReader, documentsIn, identifierIn } from "../bytes/bson_reader.ts";
import { JsonWriter } from "../bytes/json_writer.ts";
import { ANY } from "./plan.ts";
import type { FieldPlan, Plan } from "./plan.ts";
import { DocumentWriter } from "./transcoder.ts";

const { BSON, ObjectId } = mongoose.mongo;

/** A plan that writes fields of any type. */
function planOf(...names: string[]): Plan {
  const fields = names.map((name): [string, FieldPlan] => [name, {
    property: name,
    name: Buffer.from(name),
    key: Buffer.from(`${JSON.stringify(name)}:`),
    expected: 0,
    lastObject: 0,
    types: ANY,
  }]);
  return { fields: new Map(fields), defaults: [], recursive: false, order: [], objects: 0 };
}

/** Writes an array without a pause; gives the number of its documents. */
function writeAll(
  documents: DocumentWriter,
  { array, out }: { array: Buffer; out: JsonWriter },
): number {
  const { done, value } = documents.array(new BsonReader(array), { out }).next();
  assert(done);
  return value;
}

Deno.test("DocumentWriter.array() pauses after so many bytes", () => {
  const text = "x".repeat(100);
  const array = Buffer.from(BSON.serialize({ ...Array(10).fill({ text }) }));
  const out = new JsonWriter(1);
  const documents = new DocumentWriter(planOf("text"), { decode: () => "" });
  const lengths: number[] = [];
  for (const _pause of documents.array(new BsonReader(array), { out, most: 300 })) {
    lengths.push(out.length);
  }
  // `{"text":"…"}` has 111 bytes, and a comma each but the first
  assertEquals(lengths, [335, 671, 1007]);
  assertEquals(JSON.parse(`[${out.written}]`), Array(10).fill({ text }));
});

Deno.test("DocumentWriter.array() writes documents with commas, and counts them", () => {
  const array = Buffer.from(BSON.serialize({ ...[{ a: 1 }, { b: 2 }, {}] }));
  const out = new JsonWriter(1);
  const documents = new DocumentWriter(planOf("a"), { decode: () => "" });
  const count = writeAll(documents, { array, out });
  assertEquals([count, out.written.toString()], [3, '{"a":1},{},{}']);
  const empty = Buffer.from(BSON.serialize({}));
  assertEquals(writeAll(documents, { array: empty, out }), 0);
});

Deno.test("DocumentWriter.array() sets the writer back for a document that is decoded", () => {
  const array = Buffer.from(BSON.serialize({ ...[{ a: 1 }, { a: [1, { b: /x/ }] }, { a: 3 }] }));
  const out = new JsonWriter(1);
  const decoded: unknown[] = [];
  const decode = (item: Uint8Array) => {
    decoded.push(BSON.deserialize(item));
    return '{"é":0}';
  };
  const documents = new DocumentWriter(planOf("a"), { decode });
  const count = writeAll(documents, { array, out });
  assertEquals([count, out.written.toString()], [3, '{"a":1},{"é":0},{"a":3}']);
  assertEquals(decoded.length, 1);
});

Deno.test("DocumentWriter.array() passes on whatever else is thrown", () => {
  const array = Buffer.from(BSON.serialize({ 0: { a: /x/ } }));
  const decode = () => {
    throw new RangeError("No");
  };
  const documents = new DocumentWriter(planOf("a"), { decode });
  const act = () => writeAll(documents, { array, out: new JsonWriter(1) });
  assertThrows(act, RangeError, "No");
});

Deno.test("documentsIn() gives the documents of an array, and of a part of a larger buffer", () => {
  const documents = [{ a: 1 }, {}, { b: "x".repeat(300) }];
  const array = Buffer.from(BSON.serialize({ ...documents }));
  const around = Buffer.concat([Buffer.from("before"), array, Buffer.from("after")]);
  for (const [source, start] of [[array, 0], [around, 6]] as const) {
    assertEquals(
      documentsIn({ array: source, start }).map((each) => BSON.deserialize(each)),
      documents,
    );
  }
  assertEquals(documentsIn({ array: Buffer.from(BSON.serialize({})), start: 0 }), []);
});

Deno.test("identifierIn() reads an ObjectId that comes first, and nothing else", () => {
  const _id = new ObjectId("0123456789abcdef01234567");
  const read = (document: object) => identifierIn(Buffer.from(BSON.serialize(document)));
  assertEquals(read({ _id, a: 1 }), "0123456789abcdef01234567");
  for (const other of [{}, { a: 1, _id }, { _id: 5 }, { _id: "x" }, { _ix: _id }, { _idx: _id }]) {
    assertEquals(read(other), undefined);
  }
});
