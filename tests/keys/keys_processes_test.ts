import { assertEquals } from "@std/assert";
import { makeProject } from "../docs/tutorial/make_project.ts";
import { readSteps } from "../docs/tutorial/read_steps.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { as, by, type MadeKey } from "./keyed.ts";

const PAGE = new URL("../../docs/keys.md", import.meta.url);

const MAIN = `
import mongoose from "mongoose";
import process from "node:process";
import { app } from "./app.ts";

await mongoose.connect(process.env.MONGODB_URI, { dbName: process.env.DATABASE });
app.listen(Number(process.env.PORT), "127.0.0.1");
`;

const RUN = ["run", "--quiet", "--no-lock", "--no-check", "-A", "main.ts"];

longTest("a key that one process ends is refused by the next request of another", async () => {
  await using stack = new AsyncDisposableStack();
  const { files = {} } = readSteps(await Deno.readTextFile(PAGE))
    .find(({ title }) => title === "An example") ?? {};
  const { folder: cwd, write } = stack.use(await makeProject());
  await write({ ...files, "main.ts": MAIN });
  const DATABASE = `mongrove_test_${crypto.randomUUID().replaceAll("-", "").slice(0, 16)}`;
  const options = { cwd, env: { MONGODB_URI: await sharedReplicaSet(), DATABASE } };
  const one = client(stack.use(await startApp([Deno.execPath(), ...RUN], options)));
  const other = client(stack.use(await startApp([Deno.execPath(), ...RUN], options)));
  const given = { name: "n", scopes: ["tasks:all"] };
  for (let round = 0; round < 5; round++) {
    const { body: made } = await one.post<MadeKey>("/keys", given, as("ann"));
    assertEquals((await other.get("/tasks", by(made))).status, 200);
    const rotated = await one.post<MadeKey>(`/keys/${made.id}/rotate`, undefined, as("ann"));
    assertEquals((await other.get("/tasks", by(made))).status, 401);
    assertEquals((await other.get("/tasks", by(rotated.body))).status, 200);
    await one.delete(`/keys/${made.id}`, as("ann"));
    assertEquals((await other.get("/tasks", by(rotated.body))).status, 401);
  }
});
