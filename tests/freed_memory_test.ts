import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import mongoose from "mongoose";
import { all, FrameworkModel, prop, rest } from "../mod.ts";
import type { FrameworkRequest, ModelClass } from "../mod.ts";
import { startMongo } from "./harness/mongo/start_mongo.ts";
import { test } from "./harness/testing.ts";
import { mount, type Mounted, type MountOptions } from "./support.ts";

class Row extends FrameworkModel {
  @prop()
  text?: string;
}

/** How many rows there are, of 1 kB. */
const ROWS = 2500;

/** Makes a model: `/rows` is a list in several batches, `/whole` comes in one. */
function buildRows(): ModelClass {
  const schemaOptions = { collection: "rows" };
  const preFetch = (req: FrameworkRequest) => {
    req.framework.options = { batchSize: ROWS + 1 };
    return true;
  };
  @rest({ route: "/rows", methods: [all()], schemaOptions })
  @rest({ route: "/whole", methods: [all<Row>({ preFetch })] })
  class Rows extends Row {}
  return Rows;
}

async function openRows(options: MountOptions = {}): Promise<Mounted> {
  const app = await mount([buildRows()], options);
  const rows = Array.from({ length: ROWS }, (_, n) => ({ text: `${n}`.padEnd(1000, "x") }));
  await app.database.connection.collection("rows").insertMany(rows);
  return app;
}

/** Gets a list and checks it; gives its length, and the bytes of memory that were freed meanwhile. */
async function freedBy({ url }: Mounted, path: string) {
  const { transfer } = ArrayBuffer.prototype;
  let freed = 0;
  using _stub = stub(ArrayBuffer.prototype, "transfer", function (this: ArrayBuffer, size) {
    freed += this.byteLength;
    return transfer.call(this, size);
  });
  const text = await (await fetch(url + path)).text();
  const rows: Row[] = JSON.parse(text);
  assertEquals(rows.map((row) => Number(row.text?.replaceAll("x", ""))), [...Array(ROWS).keys()]);
  return { freed, length: text.length };
}

for (const path of ["/rows", "/whole"]) {
  test(`a list frees the memory of replies and of its text when they are used up: ${path}`, async () => {
    await using app = await openRows();
    const { freed, length } = await freedBy(app, path);
    // The text of the last batch goes with the end of the answer
    assert(freed > 1.5 * length, `${freed} bytes freed for ${length} of text`);
  });
}

test("the driver goes on to tell a replica set its time when replies were freed", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  await using app = await openRows({ mongo: mongo.uri });
  const { freed, length } = await freedBy(app, "/rows");
  assert(freed > 1.5 * length, `${freed} bytes freed for ${length} of text`);
  const session = await app.database.connection.startSession();
  await app.database.connection.collection("rows").countDocuments({}, { session });
  assertEquals(session.clusterTime?.signature?.hash.buffer.length, 20);
  await session.endSession();
  await freedBy(app, "/rows");
});

test("who listens to commands has whole replies", async () => {
  await using app = await openRows();
  const { connection, uri } = app.database;
  const data = Buffer.alloc(100, 7);
  await connection.collection("rows").updateMany({}, { $set: { data } });
  await mongoose.disconnect();
  await mongoose.connect(uri, { monitorCommands: true });
  const seen: mongoose.mongo.Binary[] = [];
  mongoose.connection.getClient().on("commandSucceeded", ({ reply }) => {
    const { firstBatch, nextBatch = firstBatch } = Object(Object(reply).cursor);
    seen.push(...(nextBatch ?? []).map((row: { data: mongoose.mongo.Binary }) => row.data));
  });
  await freedBy(app, "/rows");
  assertEquals(seen.filter((each) => data.equals(each.buffer)).length, ROWS);
});

test("middleware that writes in its own way may hold what it was given", async () => {
  const held: Uint8Array[] = [];
  const prepare = (app: Express) =>
    app.use((_req, res, next) => {
      const { write } = res;
      res.write = (...args: unknown[]) => {
        held.push(args[0] as Uint8Array);
        return Reflect.apply(write, res, args);
      };
      next();
    });
  await using app = await openRows({ prepare: (each) => prepare(each.use(express.json())) });
  for (const path of ["/rows", "/whole"]) {
    const { length } = await freedBy(app, path);
    const kept = held.splice(0).reduce((sum, { byteLength }) => sum + byteLength, 0);
    // What ends the answer is not written
    assert(kept > length / 2, `${kept} bytes of ${length} are left`);
  }
});
