import { assertEquals } from "@std/assert";
import { join } from "node:path";
import { openDatabase } from "../harness/database.ts";
import { request } from "../harness/request.ts";
import { ROOT } from "../harness/tasks/run_deno.ts";
import { test } from "../harness/testing.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { startApp } from "./support/start_app.ts";
import { openWorkspace } from "./support/workspace.ts";

const { nodeProject, nodes: [{ version, path }] } = openWorkspace();
const WORKERS = 2;

async function copyExample(cwd: string): Promise<void> {
  await Deno.mkdir(join(cwd, "cluster"), { recursive: true });
  const from = new URL("examples/cluster/", ROOT);
  for await (const { name } of Deno.readDir(from)) {
    await Deno.copyFile(new URL(name, from), join(cwd, "cluster", name));
  }
}

test(`examples/cluster answers from several processes of Node ${version}`, async () => {
  await copyExample(nodeProject);
  await using database = await openDatabase(await sharedReplicaSet());
  const env = { MONGODB_URI: database.uri, WORKERS: String(WORKERS) };
  const run = [path, "--import", "tsx", "cluster/main.ts"] as const;
  await using app = await startApp(run, { cwd: nodeProject, env });
  const headers = { "x-tenant": "ada", connection: "close" };
  const url = `${app.url}/notes`;
  const made = await request(url, { method: "POST", body: { text: "a" }, headers });
  assertEquals(made.status, 201);
  const seen = new Set<string | null>();
  for (let left = 100; left > 0 && seen.size < WORKERS; left--) {
    const reply = await request(url, { headers });
    assertEquals([reply.status, reply.body], [200, [made.body]]);
    seen.add(reply.headers.get("x-process"));
  }
  assertEquals(seen.size, WORKERS);
});
