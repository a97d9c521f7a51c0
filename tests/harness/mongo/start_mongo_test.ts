import { assert, assertEquals, assertMatch } from "@std/assert";
import mongoose from "mongoose";
import { longTest, test } from "../testing.ts";
import { startMongo } from "./start_mongo.ts";

test("startMongo() gives the MongoDB in MONGODB_URI, and leaves it running", async () => {
  const mongo = await startMongo();
  assertEquals(mongo.uri, Deno.env.get("MONGODB_URI"));
  await mongo.stop();
  const connection = await mongoose.createConnection(mongo.uri).asPromise();
  await connection.close();
});

test("startMongo() starts a replica set that has transactions", async () => {
  await using mongo = await startMongo({ replicaSet: 1 });
  assertMatch(mongo.uri, /replicaSet=/);
  assert(mongo.mongod);
  const connection = await mongoose.createConnection(mongo.uri).asPromise();
  const notes = connection.collection("notes");
  await connection.transaction(async (session) => {
    await notes.insertOne({ text: "a" }, { session });
  });
  assertEquals(await notes.countDocuments(), 1);
  await connection.close();
});

longTest("startMongo() chooses ports that systems give to nobody who asks for any", async () => {
  await using mongo = await startMongo({ replicaSet: 3 });
  const ports = mongo.members.map(({ instanceInfo }) => instanceInfo?.port ?? NaN);
  assertEquals(new Set(ports).size, 3);
  for (const port of ports) assert(port < 32_768, `${port}`);
});
