import { assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import { openDatabase } from "../../tests/harness/database.ts";
import { test } from "../../tests/harness/testing.ts";
import { bsonOf, insertRaw } from "../../tests/made/raw_bson.ts";
import { readPaths } from "./collection_reads.ts";

const ID = Buffer.alloc(12, 1);
const LAST = Buffer.alloc(8, 0xff).fill(0x7f, 7);

/** Reads a far date while another client stores something else in its place. */
async function readWhile(change: object): Promise<unknown> {
  await using database = await openDatabase();
  const collection = database.connection.collection("dated");
  const stored = bsonOf([[0x07, "_id", ID], [0x03, "a", bsonOf([[0x09, "at", LAST]])]]);
  await insertRaw(database.uri, { collection: "dated", documents: [stored] });
  let reads = 0;
  return await readPaths(["a.at"], async (projection) => {
    if (reads++ > 0) await collection.updateOne({}, change);
    return await collection.findOne({}, { projection: { ...projection, _id: 0 } }) ?? undefined;
  });
}

test("readPaths() reads a date that JavaScript cannot hold as a number", async () => {
  const found = await readWhile({ $set: { other: 1 } }) as { a: { at: Date } };
  assertEquals(found.a.at.getTime(), 2 ** 63);
});

test("readPaths() takes what stands there by now", async () => {
  for (const at of [null, 5, "a", new mongoose.mongo.ObjectId(ID)]) {
    assertEquals(await readWhile({ $set: { "a.at": at } }), { a: { at } });
  }
  assertEquals(await readWhile({ $unset: { "a.at": 1 } }), { a: {} });
  const found = await readWhile({ $set: { "a.at": new Date(3) } }) as { a: { at: Date } };
  assertEquals(found.a.at.getTime(), 3);
});
