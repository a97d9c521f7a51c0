import { assert, assertEquals } from "@std/assert";
import { rows, sendBatch } from "../features/batch/shop.ts";
import { longTest } from "../harness/testing.ts";
import { startApp } from "../reach/support/start_app.ts";
import { client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { makeProject } from "./tutorial/make_project.ts";
import { readSteps } from "./tutorial/read_steps.ts";

const PAGE = new URL("../../docs/production.md", import.meta.url);

const MAIN = `
import mongoose from "mongoose";
import process from "node:process";
import { app } from "./app.ts";

await mongoose.connect(process.env.MONGODB_URI);
await Promise.all(Object.values(mongoose.models).map((model) => model.init()));
app.listen(Number(process.env.PORT), "127.0.0.1");
`;

const RUN = ["run", "--quiet", "--no-lock", "--no-check", "-A", "main.ts"];

const ROWS = rows(...Array.from({ length: 20 }, () => ["POST", "/notes", { text: "a" }] as const));

const as = (user: string) => ({ "x-user": user });

/** Serves the recipe, with smaller limits, by two processes on one replica set. */
async function openTwo() {
  await using stack = new AsyncDisposableStack();
  const { files = {} } = readSteps(await Deno.readTextFile(PAGE))
    .find(({ title }) => title === "Rate limit") ?? {};
  const { folder: cwd, write } = stack.use(await makeProject());
  const code = (files["app.ts"] ?? "").replace("600", "150").replace("1000", "35");
  await write({ ...files, "app.ts": code, "main.ts": MAIN });
  const options = { cwd, env: { MONGODB_URI: await sharedReplicaSet() } };
  const one = client(stack.use(await startApp([Deno.execPath(), ...RUN], options)));
  const other = client(stack.use(await startApp([Deno.execPath(), ...RUN], options)));
  const opened = stack.move();
  return { one, other, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

longTest("docs/production.md limits requests in two processes", async () => {
  await using apps = await openTwo();
  const { one, other } = apps;
  const read = (app: typeof one, user: string) =>
    app.get<object[]>("/notes", { headers: as(user) });

  for (let left = 5; left > 0; left--) {
    for (const app of [one, other]) assertEquals((await read(app, "ann@acme")).status, 200);
  }
  const batch = await sendBatch(one, ROWS, as("ann@acme"));
  assertEquals([batch.status, batch.body.responses.length], [200, 20], batch.text);
  const refused = await read(other, "ann@acme");
  assertEquals(refused.text, '{"code":"TOO_MANY_REQUESTS","limit":"user"}');
  assert(refused.status === 429 && Number(refused.headers.get("retry-after")) > 0);

  for (let left = 11; left > 0; left--) await read(one, "bob@bell");
  assertEquals((await sendBatch(other, ROWS, as("bob@bell"))).status, 429);
  assertEquals((await read(one, "cem@core")).body.length, 20);

  const many = await sendBatch(other, ROWS.slice(0, 6), as("dan@acme"));
  assertEquals([many.status, JSON.parse(many.text).limit], [429, "company"]);

  let { status, text } = await read(one, "eve@0");
  for (let other = 1; status === 200; other++) {
    ({ status, text } = await read(one, `eve@${other}`));
  }
  assertEquals([status, JSON.parse(text).limit], [429, "address"]);
});

longTest("docs/production.md refuses an address that gets many answers with 401", async () => {
  await using apps = await openTwo();
  const { one } = apps;
  const statuses = new Set<number>();
  for (let left = 20; left > 0; left--) statuses.add((await one.get("/notes")).status);
  assertEquals([...statuses], [401]);
  const refused = await one.get("/notes", { headers: as("ann@acme") });
  assertEquals([refused.status, JSON.parse(refused.text).limit], [429, "refusals"]);
  assert(Number(refused.headers.get("retry-after")) > 0);
});
