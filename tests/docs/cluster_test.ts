import { assert, assertEquals } from "@std/assert";
import { fileURLToPath } from "node:url";
import mongoose from "mongoose";
import { client, type EntityBody } from "../support/client.ts";
import { withDatabase } from "../harness/database_uri.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { until } from "../support/until.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PERMISSIONS = ["--allow-env", "--allow-net", "--allow-sys", "--allow-run", "--allow-read"];
const WORKERS = 3;

/** Serves the example in several processes, on three nodes of MongoDB. */
async function openCluster() {
  const mongo = await startMongo({ replicaSet: 3 });
  const uri = withDatabase(mongo.uri, "notes");
  const run = ["run", "--quiet", "--no-prompt", ...PERMISSIONS, "examples/cluster/main.ts"];
  const env = { MONGODB_URI: uri, WORKERS: String(WORKERS) };
  const app = await startApp([Deno.execPath(), ...run], { cwd: ROOT, env });
  const send = (tenant: string, { path = "", text }: { path?: string; text?: string } = {}) => {
    const api = client(`${app.url}/notes`, { "x-tenant": tenant, connection: "close" });
    const within = { within: 20_000 };
    const ask = () => text ? api.post(path, { text }, within) : api.get<EntityBody>(path, within);
    // Deno's node:cluster has been seen to give a worker a connection that it never reads
    return ask().catch((error: unknown) => {
      if ((error as Error).name !== "TimeoutError") throw error;
      return ask();
    });
  };
  return {
    uri,
    send,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await mongo.stop();
    },
  };
}

/** Counts the finds that the members of the replica set have run, by role. */
async function countFinds(uri: string): Promise<{ primary: number; secondary: number }> {
  const finds = { primary: 0, secondary: 0 };
  const members = uri.replace(/^mongodb:\/\/([^/]*)\/.*$/, "$1").split(",");
  for (const member of members) {
    const direct = `mongodb://${member}/admin?directConnection=true`;
    const connection = await mongoose.createConnection(direct).asPromise();
    const { isWritablePrimary } = await connection.db?.command({ hello: 1 }) ?? {};
    const { metrics } = await connection.db?.command({ serverStatus: 1 }) ?? {};
    finds[isWritablePrimary ? "primary" : "secondary"] += Number(metrics.commands.find.total);
    await connection.close();
  }
  return finds;
}

longTest("examples/cluster serves tenants from several processes and any member", async (t) => {
  await using cluster = await openCluster();
  const { send, uri } = cluster;
  let id = "";
  await t.step("what one process wrote, every process reads at once by its id", async () => {
    const made = await send("ada", { text: "a" });
    assertEquals(made.status, 201);
    id = made.body._id;
    for (let left = 12; left > 0; left--) {
      assertEquals((await send("ada", { path: `/${id}` })).body.text, "a");
    }
  });
  await t.step("a tenant sees its own database only", async () => {
    assertEquals((await send("bob", { path: `/${id}` })).status, 404);
    assertEquals((await send("bob")).text, "[]");
    assertEquals((await send("No")).status, 400);
  });
  await t.step("more than one process answers", async () => {
    // Not all of them: on a busy machine the last one may still be starting
    const seen = new Set<string | null>();
    const ask = async () => seen.add((await send("ada")).headers.get("x-process")).size;
    await until(async () => await ask() > 1, { seconds: 90 });
  });
  await t.step("lists are read from secondaries", async () => {
    const before = await countFinds(uri);
    for (let left = 30; left > 0; left--) await send("ada");
    const after = await countFinds(uri);
    assert(after.secondary - before.secondary >= 30, JSON.stringify({ before, after }));
  });
});

longTest("examples/cluster answers again after the primary stepped down", async () => {
  await using cluster = await openCluster();
  const { send, uri } = cluster;
  assertEquals((await send("ada", { text: "before" })).status, 201);
  const connection = await mongoose.createConnection(uri).asPromise();
  const stepDown = { replSetStepDown: 30, secondaryCatchUpPeriodSecs: 5, force: true };
  await connection.db?.admin().command(stepDown).catch(() => {});
  await connection.close();
  const answers: number[] = [];
  for (const end = Date.now() + 30_000; Date.now() < end && answers.at(-1) !== 201;) {
    const { status, headers } = await send("ada", { text: "after" });
    answers.push(status);
    if (status === 503) assert(Number(headers.get("retry-after")) > 0);
  }
  assertEquals(answers.filter((status) => status !== 503), [201]);
});
