import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { join } from "node:path";
import { createApp } from "../../src/new/mod.ts";
import { makeProject } from "../docs/tutorial/make_project.ts";
import { storeOdd } from "../fixtures/odd_database.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { request } from "../harness/request.ts";
import { test } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";

const WRITES = [
  ...["insert", "update", "delete", "findAndModify", "bulkWrite", "create", "createIndexes"],
  ...["collMod", "drop", "dropIndexes", "dropDatabase", "renameCollection"],
];

const NAME = "odd_read_only";

const PASSWORD = "pass-word";

/** Starts a MongoDB with a user who may read a database, and one who may write to it. */
async function openGuarded() {
  const mongo = await startMongo({ password: PASSWORD });
  const [, host = ""] = /\/\/(?:.*@)?([^/]+)/.exec(mongo.uri) ?? [];
  const uriOf = (user: string) => `mongodb://${user}:${PASSWORD}@${host}/${NAME}?authSource=admin`;
  const connection = await mongoose.createConnection(uriOf("root")).asPromise();
  for (const role of ["read", "readWrite"] as const) {
    const user = { createUser: role, pwd: PASSWORD, roles: [{ role, db: NAME }] };
    await connection.getClient().db("admin").command(user);
  }
  await storeOdd(connection);
  return {
    connection,
    uriOf,
    /** Counts commands. A refused command is not counted. */
    async writes(): Promise<number[]> {
      const { metrics } = await connection.db?.admin().serverStatus() ?? {};
      return WRITES.map((name) => Number(metrics.commands[name]?.total ?? 0));
    },
    async [Symbol.asyncDispose]() {
      await connection.close();
      await mongo.stop();
    },
  };
}

/** Makes an application, starts it, sends it requests, and compares it with the database. */
async function useApp(uri: string): Promise<void> {
  await using project = await makeProject();
  const settings = await Deno.readTextFile(join(project.folder, "deno.json"));
  await Deno.remove(join(project.folder, "deno.json"));
  const lines: string[] = [];
  const report = (line: string) => lines.push(line);
  await createApp(project.folder, { from: uri, report });
  assert(lines.includes("odd_owners: 50 entities read"), lines.join("\n"));
  await project.write({ "deno.json": settings });
  const command = [Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "main.ts"] as const;
  const env = { MONGODB_URI: uri, API_KEY: "key" };
  await using app = await startApp(command, { cwd: project.folder, env });
  const headers = { authorization: "key" };
  for (const path of ["/odd-things", "/odd_owners", "/odd_view", "/odd_series"]) {
    const { status, body } = await request<unknown[]>(app.url + path, { headers });
    assertEquals([path, status, body.length > 0], [path, 200, true]);
  }
  assertEquals((await request(`${app.url}/odd_owners`)).status, 401);
  lines.length = 0;
  assertEquals(await createApp(project.folder, { from: uri, report, write: true }), []);
  assertEquals(lines, ["The database and the models have no differences"]);
}

test("new --from and the written application write nothing into the database", async () => {
  await using mongo = await openGuarded();
  const before = await mongo.writes();
  await useApp(mongo.uriOf("read"));
  await useApp(mongo.uriOf("readWrite"));
  assertEquals(await mongo.writes(), before);
});
