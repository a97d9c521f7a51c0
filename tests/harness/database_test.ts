import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import type { Connection } from "mongoose";
import { dropDatabase, openDatabase } from "./database.ts";
import { withDatabase } from "./database_uri.ts";
import { test } from "./testing.ts";

const NAMED: Record<string, string> = {
  "mongodb://a": "mongodb://a/db",
  "mongodb://a/": "mongodb://a/db",
  "mongodb://a:1,b:2/old?replicaSet=rs0": "mongodb://a:1,b:2/db?replicaSet=rs0",
  "mongodb://a/?replicaSet=rs0": "mongodb://a/db?replicaSet=rs0",
  "mongodb://a?replicaSet=rs0": "mongodb://a/db?replicaSet=rs0",
  "mongodb://u:p%2F@a/old": "mongodb://u:p%2F@a/db?authSource=old",
  "mongodb://u:p@a/?w=1": "mongodb://u:p@a/db?w=1&authSource=admin",
  "mongodb://u:p@a/old?authSource=x": "mongodb://u:p@a/db?authSource=x",
  "mongodb://u@a/?authMechanism=MONGODB-X509": "mongodb://u@a/db?authMechanism=MONGODB-X509",
  "mongodb+srv://u:p@c.example/old?w=majority": "mongodb+srv://u:p@c.example/db?w=majority",
};

for (const [uri, expected] of Object.entries(NAMED)) {
  Deno.test(`withDatabase() names the database in ${uri}`, () => {
    assertEquals(withDatabase(uri, "db"), expected);
  });
}

Deno.test("withDatabase() refuses what is no connection string, unquoted", () => {
  const error = assertThrows(() => withDatabase("u:secret@a", "db"), TypeError);
  assert(!error.message.includes("secret"));
});

test("openDatabase() opens one of its own, and dropping it drops no other", async () => {
  const database = await openDatabase();
  const { name, uri, connection } = database;
  assertEquals(connection.name, name);
  await connection.collection("notes").insertOne({ text: "a" });
  const beside = await mongoose.createConnection(withDatabase(uri, `${name}_beside`)).asPromise();
  await beside.collection("notes").insertOne({ text: "b" });
  assertEquals(await namesLike(beside, name), [name, beside.name]);
  await database[Symbol.asyncDispose]();
  assertEquals(mongoose.connection.readyState, 0);
  const left = mongoose.createConnection(withDatabase(uri, beside.name));
  assertEquals(await namesLike(await left.asPromise(), name), [beside.name]);
  await left.dropDatabase();
  await left.close();
});

test("dropDatabase() refuses a database that this run did not make", async () => {
  const uri = Deno.env.get("MONGODB_URI") ?? "";
  for (const name of ["admin", "test", "mongrove_test_0123456789abcdef"]) {
    await assertRejects(
      () => dropDatabase(uri, name),
      Error,
      `Cannot drop the database "${name}"`,
    );
  }
});

/** Other tests make and drop databases at the same time. */
async function namesLike(connection: Connection, start: string): Promise<string[]> {
  const { databases } = await connection.listDatabases();
  return databases.map(({ name }) => name).filter((name) => name.startsWith(start)).sort();
}
