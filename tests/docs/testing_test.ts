// Runs alone: it has a MongoDB of its own until its last test has ended.
import { assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { delimiter, join } from "node:path";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { serve, startMongo, type TestMongo } from "@mongrove/mongrove/testing";
import { findMongod } from "../harness/mongo/find_mongo.ts";
import { longTest, test } from "../harness/testing.ts";
import { tryCommand } from "../reach/support/run_command.ts";

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

const SCRIPT = `import { startMongo } from "${new URL(
  "../../src/testing/mod.ts",
  import.meta.url,
)}";
await using mongo = await startMongo();
console.log(mongo.uri);`;

const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

/** Starts a MongoDB in a process that cannot download one. */
async function startOffline(
  { path, config = `--config=${CONFIG}` }: { path: string; config?: string },
): Promise<{ code: number; output: string }> {
  const cwd = await Deno.makeTempDir({ prefix: "mongrove-offline-" });
  const env = {
    PATH: path,
    MONGOMS_SYSTEM_BINARY: "",
    MONGOMS_DOWNLOAD_DIR: join(cwd, "binaries"),
    MONGOMS_DOWNLOAD_MIRROR: "http://127.0.0.1:9",
    MONGOMS_MAX_RETRIES: "0",
  };
  try {
    await Deno.writeTextFile(join(cwd, "main.ts"), SCRIPT);
    const args = ["run", "-A", "--no-check", "--no-lock", config, "main.ts"];
    return await tryCommand(Deno.execPath(), args, { cwd, env });
  } finally {
    await Deno.remove(cwd, { recursive: true });
  }
}

/** Makes a folder with a `mongod` of version 4.4, and one with that of the tests. */
async function makeFolders() {
  const root = await Deno.makeTempDir({ prefix: "mongrove-path-" });
  const { path } = await findMongod({ uri: "" });
  const write = async (name: string, line: string): Promise<string> => {
    const folder = join(root, name);
    await Deno.mkdir(folder);
    await Deno.writeTextFile(join(folder, "mongod"), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
    return folder;
  };
  return {
    older: await write("older", "echo db version v4.4.29"),
    newer: await write("newer", `exec "${path}" "$@"`),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

longTest("startMongo() runs the mongod on PATH, if it is new enough", async () => {
  await using folders = await makeFolders();
  const path = [folders.older, folders.newer].join(delimiter);
  const { code, output } = await startOffline({ path });
  assertMatch(output, /^mongodb:\/\/127\.0\.0\.1:\d+\/test$/);
  assertEquals(code, 0);
});

longTest(
  "startMongo() says what to do where there is no mongod and none can be downloaded",
  async () => {
    await using folders = await makeFolders();
    const { code, output } = await startOffline({ path: folders.older });
    assertStringIncludes(output, "Cannot start MongoDB: set MONGOMS_SYSTEM_BINARY to the path of");
    assertEquals(code, 1);
  },
);

longTest("startMongo() says in one line how to install a package that is missing", async () => {
  const { code, output } = await startOffline({ path: "", config: "--no-config" });
  const line = output.split("\n").find((each) => each.includes("Cannot start MongoDB")) ?? "";
  assertStringIncludes(line, '"npm i -D mongodb-memory-server"');
  assertStringIncludes(line, '"deno add npm:mongodb-memory-server"');
  assertEquals(code, 1);
});

test("startMongo() starts a MongoDB that takes what a test writes", async () => {
  await nameMongod();
  await using mongo = await startMongo();
  await using client = await connect(mongo);
  assertEquals(client.connection.name, "test");
  await client.connection.collection("notes").insertOne({ text: "a" });
  assertEquals(await client.connection.collection("notes").countDocuments(), 1);
});

test("startMongo() starts a replica set", async () => {
  await nameMongod();
  await using mongo = await startMongo({ replicaSet: 1 });
  await using client = await connect(mongo);
  const notes = client.connection.collection("notes");
  await client.connection.transaction(async (session) => {
    await notes.insertOne({ text: "a" }, { session });
  });
  assertEquals(await notes.countDocuments(), 1);
});

test("startMongo() refuses a replica set of no size, and unknown options", async () => {
  await assertRejects(() => startMongo({ replicaSet: -1 }), RangeError, "replicaSet is -1");
  await assertRejects(() => startMongo({ replicaSet: 1.5 }), RangeError, "replicaSet is 1.5");
  const options = { dbName: "movies" } as object;
  const cure = 'there is no option "dbName" (dbName is one of mongoose.connect())';
  await assertRejects(() => startMongo(options), TypeError, cure);
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
