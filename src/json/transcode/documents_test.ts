import { assertEquals, assertThrows } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { documentsIn, identifierIn, transcodeArrayItems } from "./documents.ts";
import { JsonWriter } from "./json_writer.ts";
import { ANY } from "./plan.ts";
import type { FieldPlan, Plan } from "./plan.ts";

const { BSON, ObjectId } = mongoose.mongo;

/** A plan that writes fields of any type. */
function planOf(...names: string[]): Plan {
  const fields = names.map((name): [string, FieldPlan] => [name, {
    name: Buffer.from(name),
    key: Buffer.from(`${JSON.stringify(name)}:`),
    expected: 0,
    seen: 0,
    types: ANY,
  }]);
  return { fields: new Map(fields), defaults: [], recursive: false, order: [] };
}

Deno.test("transcodeArrayItems() writes documents with commas, and counts them", () => {
  const array = Buffer.from(BSON.serialize({ ...[{ a: 1 }, { b: 2 }, {}] }));
  const out = new JsonWriter(1);
  const count = transcodeArrayItems(out, array, 0, planOf("a"), () => "");
  assertEquals([count, out.written.toString()], [3, '{"a":1},{},{}']);
  assertEquals(
    transcodeArrayItems(out, Buffer.from(BSON.serialize({})), 0, planOf(), () => ""),
    0,
  );
});

Deno.test("transcodeArrayItems() sets the writer back for a document that is decoded", () => {
  const array = Buffer.from(BSON.serialize({ ...[{ a: 1 }, { a: [1, { b: /x/ }] }, { a: 3 }] }));
  const out = new JsonWriter(1);
  const decoded: unknown[] = [];
  const count = transcodeArrayItems(out, array, 0, planOf("a"), (item) => {
    decoded.push(BSON.deserialize(item));
    return '{"é":0}';
  });
  assertEquals([count, out.written.toString()], [3, '{"a":1},{"é":0},{"a":3}']);
  assertEquals(decoded.length, 1);
});

Deno.test("transcodeArrayItems() passes on whatever else is thrown", () => {
  const array = Buffer.from(BSON.serialize({ 0: { a: /x/ } }));
  const decode = () => {
    throw new RangeError("No");
  };
  const act = () => transcodeArrayItems(new JsonWriter(1), array, 0, planOf("a"), decode);
  assertThrows(act, RangeError, "No");
});

Deno.test("documentsIn() gives the documents of an array, and of a part of a larger buffer", () => {
  const documents = [{ a: 1 }, {}, { b: "x".repeat(300) }];
  const array = Buffer.from(BSON.serialize({ ...documents }));
  const around = Buffer.concat([Buffer.from("before"), array, Buffer.from("after")]);
  for (const [source, start] of [[array, 0], [around, 6]] as const) {
    assertEquals(documentsIn(source, start).map((each) => BSON.deserialize(each)), documents);
  }
  assertEquals(documentsIn(Buffer.from(BSON.serialize({})), 0), []);
});

Deno.test("identifierIn() reads an ObjectId that comes first, and nothing else", () => {
  const _id = new ObjectId("0123456789abcdef01234567");
  const read = (document: object) => identifierIn(Buffer.from(BSON.serialize(document)));
  assertEquals(read({ _id, a: 1 }), "0123456789abcdef01234567");
  for (const other of [{}, { a: 1, _id }, { _id: 5 }, { _id: "x" }, { _ix: _id }, { _idx: _id }]) {
    assertEquals(read(other), undefined);
  }
});
