import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import { withDatabase } from "../harness/database_uri.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { until } from "../support/until.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGE = new URL("../../docs/work.md", import.meta.url);

const RUN = ["run", "--quiet", "--no-lock", "--no-check", "-A", "main.ts"] as const;

/** Opens a database on the shared replica set, and the files of the page. */
async function openPage() {
  await using stack = new AsyncDisposableStack();
  const { files = {} } = readSteps(await Deno.readTextFile(PAGE))
    .find(({ title }) => title === "An example") ?? {};
  const { folder: cwd, write } = stack.use(await makeProject());
  await write(files);
  const uri = withDatabase(await sharedReplicaSet(), `mongrove_page_${crypto.randomUUID()}`);
  const connection = await mongoose.createConnection(uri).asPromise();
  stack.defer(async () => {
    await connection.dropDatabase();
    await connection.close();
  });
  const opened = stack.move();
  const start = async () => {
    const options = { cwd, env: { MONGODB_URI: uri } };
    return opened.use(await startApp([Deno.execPath(), ...RUN], options));
  };
  return { connection, start, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

longTest("docs/work.md migrates in one of two processes, and repeats its work", async () => {
  await using page = await openPage();
  const { connection, start } = page;
  const priorities = ["high", "medium", "low"];
  const tickets = connection.collection("tickets");
  await tickets.insertMany(priorities.map((priority) => ({ priority, urgent: true, __v: 0 })));
  await connection.collection("drafts").insertOne({});
  const apps = await Promise.all([start(), start()]);
  for (const { url } of apps) {
    await until(async () => (await client(url).get("/ready")).status === 200);
    const { body } = await client(url).get<{ priority: number; __v: number }[]>("/tickets");
    assertEquals(body.map(({ priority, __v }) => [priority, __v]), [[1, 1], [2, 1], [3, 1]]);
  }
  assertEquals(await tickets.countDocuments({ urgent: { $exists: true } }), 0);
  assertEquals(await connection.collection("drafts").countDocuments(), 0);
  const migrations = connection.collection("mongrove_migrations");
  const records = await migrations.find().sort({ order: 1 }).toArray();
  // A process may claim the lease of a migration that has just ended, which runs no second time: `__v` is 1.
  assertEquals(records.map(({ _id, outcome }) => [String(_id), outcome]), [
    ["2026-03 priorities are numbers", "done"],
    ["2026-04 no drafts", "done"],
  ]);
  await until(async () => await tickets.countDocuments({ remindedAt: { $exists: true } }) === 1);
  const runs = connection.collection("mongrove_runs");
  await until(async () => await runs.findOne({ outcome: "done" }) !== null);
});
