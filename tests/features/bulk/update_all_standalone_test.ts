import { assertEquals, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import { Framework, type HooksOf, RestError } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { mount } from "../../support/support.ts";
import {
  BOTH,
  change,
  type Counts,
  store,
  storeMany,
  type Task,
  taskModel,
  valuesOf,
} from "./tasks.ts";

interface Told extends Counts {
  readonly failed?: readonly {
    readonly _id: string;
    readonly status: number;
    readonly code: string;
    readonly errors?: object;
  }[];
}

test("updateAll() does not start on a standalone server, unless it says atomic: false", async () => {
  const uri = Deno.env.get("MONGODB_URI") ?? "";
  await mongoose.connect(uri);
  const start = () => Framework.initialize({ models: [taskModel()] });
  const { message } = assertThrows(start, TypeError);
  assertEquals([message.includes("updateAll()"), message.includes(`"atomic: false"`)], [
    true,
    true,
  ]);
  Framework.initialize({ models: [taskModel({ atomic: false })] });
  Framework.initialize({ models: [taskModel({ persist: pass })] });
  await mongoose.disconnect();
});

test("updateAll() on a standalone server that opens later answers 500, and writes nothing", async () => {
  const reported: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void reported.push(error);
  const model = taskModel();
  await using app = await mount([model], { onError });
  await storeMany(model, 3);
  for (const route of BOTH) {
    assertEquals((await change(app, { route, body: { state: "done" } })).status, 500);
    assertEquals(String(reported.pop()).includes(`"atomic: false"`), true);
  }
  assertEquals(await valuesOf(model, "__v"), [0, 0, 0]);
});

const refuse: HooksOf<Task>["preSave"] = (_req, task) => {
  if (task.rank === 2) throw new RestError(418, { code: "TEAPOT", message: "No" });
  return task.rank === 3 ? null : task;
};

test("updateAll() with atomic: false changes each by itself, and tells which were not", async (t) => {
  const routes = { "/tasks": undefined, "/hooked": refuse };
  for (const route of BOTH) {
    const own = routes[route];
    const model = taskModel({ atomic: false, max: 5, ...own && { preSave: own } });
    await using app = await mount([model]);
    await t.step(route, async () => {
      await storeMany(model, 2);
      const all = await change(app, { route, body: { state: "done", tags: ["x"] } });
      assertEquals([all.status, all.body], [200, { matched: 2, modified: 2 }]);
      assertEquals(await valuesOf(model, "__v"), [1, 1]);
      await storeMany(model, 5);
      const reply = await change(app, { route, body: { slug: "one" } });
      const { matched, modified, failed = [] } = reply.body as Told;
      const told = failed.map(({ _id, status, code }) => [_id.length, status, code]);
      const duplicate = [24, 409, "CONFLICT"];
      const refused = own ? [[24, 418, "TEAPOT"], [24, 403, "FORBIDDEN"]] : [duplicate, duplicate];
      assertEquals([reply.status, matched, modified], [207, 5, 1]);
      assertEquals(told, [duplicate, ...refused, duplicate]);
      assertEquals(await valuesOf(model, "slug"), ["one", ...Array(4).fill(undefined)]);
      assertEquals((await change(app, { route, body: { rank: "x" } })).status, 400);
      assertEquals((await change(app, { route, body: { other: 1 } })).status, 400);
      await storeMany(model, 6);
      assertEquals((await change(app, { route, body: { state: "done" } })).status, 409);
      assertEquals(await valuesOf(model, "__v"), Array(6).fill(0));
    });
  }
});

test("updateAll() with atomic: false validates each by itself", async () => {
  const model = taskModel({ atomic: false });
  await using app = await mount([model]);
  await store(model, [{ rank: 0, title: "a", state: "open" }, { rank: 1, state: "open" }]);
  const reply = await change(app, { body: { owner: "me" } });
  const { failed = [] } = reply.body as Told;
  assertEquals([reply.status, failed[0]?.status, Object.keys(failed[0]?.errors ?? {})], [
    ...[207, 400, ["title"]],
  ]);
  assertEquals(await valuesOf(model, "owner"), ["me", undefined]);
});
