import { assertEquals, assertRejects } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { serve, startMongo, type TestMongo } from "@mongrove/mongrove/testing";
import { findMongod } from "./harness/mongo/find_mongo.ts";
import { test } from "./harness/testing.ts";

/** Lets mongodb-memory-server use the binary of the tests. */
async function nameMongod(): Promise<void> {
  const { path } = await findMongod({ uri: "" });
  Deno.env.set("MONGOMS_SYSTEM_BINARY", path);
  Deno.env.set("MONGOMS_SYSTEM_BINARY_VERSION_CHECK", "false");
}

async function connect(mongo: TestMongo) {
  const connection = await mongoose.createConnection(mongo.uri).asPromise();
  return { connection, [Symbol.asyncDispose]: () => connection.close() };
}

test("startMongo() starts a MongoDB that takes what a test writes", async () => {
  await nameMongod();
  await using mongo = await startMongo();
  await using client = await connect(mongo);
  assertEquals(client.connection.name, "test");
  await client.connection.collection("notes").insertOne({ text: "a" });
  assertEquals(await client.connection.collection("notes").countDocuments(), 1);
});

test("startMongo() starts a replica set, in the database that is named", async () => {
  await nameMongod();
  await using mongo = await startMongo({ replicaSet: 1, dbName: "movies" });
  await using client = await connect(mongo);
  assertEquals(client.connection.name, "movies");
  const notes = client.connection.collection("notes");
  await client.connection.transaction(async (session) => {
    await notes.insertOne({ text: "a" }, { session });
  });
  assertEquals(await notes.countDocuments(), 1);
});

test("startMongo() refuses a replica set of no size", async () => {
  await assertRejects(() => startMongo({ replicaSet: -1 }), RangeError, "replicaSet is -1");
  await assertRejects(() => startMongo({ replicaSet: 1.5 }), RangeError, "replicaSet is 1.5");
});

test("stop() of a MongoDB ends it, and may be called again", async () => {
  await nameMongod();
  const mongo = await startMongo();
  await mongo.stop();
  await mongo.stop();
  const options = { serverSelectionTimeoutMS: 200 };
  await assertRejects(() => mongoose.createConnection(mongo.uri, options).asPromise());
});

test("serve() gives the URL of an application, and stop() ends it at once", async () => {
  const arrived = Promise.withResolvers<void>();
  const app = express().get("/slow", () => arrived.resolve());
  const { url, stop } = await serve(app);
  assertEquals((await fetch(url).then((answer) => answer.text())).includes("Cannot GET /"), true);
  const slow = assertRejects(() => fetch(`${url}/slow`));
  await arrived.promise;
  await Promise.all([stop(), stop(), slow]);
  await assertRejects(() => fetch(url));
});
