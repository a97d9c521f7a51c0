import { assertEquals } from "@std/assert";
import type { Document, Schema } from "mongoose";
import { type Entity, getModel, type HooksOf, type ModelClass, RestError } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { change, store, storeMany, Task, taskModel, valuesOf } from "./tasks.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

const BODY = { state: "done" };

/** Serves a model whose updateAll() has hooks, on a replica set, and runs a test with it. */
function hookTest(
  name: string,
  hooks: HooksOf<Task>,
  run: (app: Mounted, model: ModelClass<Task>) => Promise<void>,
): void {
  test(`updateAll() ${name}`, async () => {
    await using mongo = await openReplicaSet();
    const model = taskModel(hooks);
    await using app = await mount([model], { mongo: mongo.uri, onError: () => {} });
    await run(app, model);
  });
}

const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10));

{
  const seen: string[] = [];
  const note =
    (hook: string) => async (_req: unknown, task: Entity<Task>, previous?: Entity<Task>) => {
      const before = `${task.rank} ${task.state} ${previous?.rank} ${previous?.state}`;
      await pause();
      // Others pass meanwhile.
      assertEquals(`${task.rank} ${task.state} ${previous?.rank} ${previous?.state}`, before);
      seen.push(`${hook} ${before}`);
      if (hook === "preSave") task.title = `${previous?.title} ${task.rank}`;
      return task;
    };
  hookTest("gives each hook the one entity, and what it was before", {
    postFetch: note("postFetch"),
    preSave: note("preSave"),
  }, async (app, model) => {
    await storeMany(model, 50);
    assertEquals((await change(app, { body: BODY })).body, { matched: 50, modified: 50 });
    const ranks = Array.from({ length: 50 }, (_, rank) => rank);
    assertEquals(await valuesOf(model, "title"), ranks.map((rank) => `t${rank} ${rank}`));
    const expected = ranks.flatMap((rank) => [
      `postFetch ${rank} open undefined undefined`,
      `preSave ${rank} done ${rank} open`,
    ]);
    assertEquals(seen.toSorted(), expected.toSorted());
  });
}

hookTest("changes none if a hook refuses one", {
  preSave: (_req, task) => task.rank === 7 ? null : task,
}, async (app, model) => {
  await storeMany(model, 9);
  assertEquals((await change(app, { body: BODY })).status, 403);
  assertEquals(await valuesOf(model, "__v"), Array(9).fill(0));
  assertEquals((await change(app, { filter: { rank: { $ne: 7 } }, body: BODY })).body, {
    ...{ matched: 8, modified: 8 },
  });
});

hookTest("changes none if a hook throws, and answers what it threw", {
  preSave: (_req, task) => {
    if (task.rank === 3) throw new RestError(418, "No");
    if (task.rank === 4) throw new Error("Broken");
    return task;
  },
}, async (app, model) => {
  await storeMany(model, 9);
  assertEquals((await change(app, { body: BODY })).status, 418);
  assertEquals((await change(app, { filter: { rank: { $gt: 3 } }, body: BODY })).status, 500);
  assertEquals(await valuesOf(model, "__v"), Array(9).fill(0));
});

hookTest("checks what hooks have set, and changes none if one is not valid", {
  preSave(_req, task) {
    if (task.rank === 5) task.state = "wrong";
    task.note = "seen";
    return task;
  },
}, async (app, model) => {
  await storeMany(model, 9);
  const reply = await app.patch<ErrorBody>(`/tasks${asQuery({})}`, { rank: 5 });
  assertEquals([reply.status, Object.keys(reply.body.errors ?? {})], [400, ["state"]]);
  assertEquals(await valuesOf(model, "__v"), Array(9).fill(0));
  assertEquals((await change(app, { body: { rank: 6 } })).body, { matched: 9, modified: 9 });
  assertEquals(await valuesOf(model, "note"), Array(9).fill("seen"));
});

hookTest("runs no hook before it knows how many there are", {
  max: 5,
  preSave(_req, task) {
    saved.push(Number(task.rank));
    return task;
  },
}, async (app, model) => {
  await storeMany(model, 6);
  assertEquals((await change(app, { body: BODY })).status, 409);
  assertEquals(saved, []);
  await change(app, { filter: { rank: { $lt: 5 } }, body: BODY });
  assertEquals(saved.toSorted(), [0, 1, 2, 3, 4]);
});

const saved: number[] = [];
const persisted: string[] = [];

hookTest("has persist hooks write one entity after the other", {
  async persist(_req, task, previous) {
    persisted.push(`+${task.rank}`);
    await pause();
    persisted.push(`-${task.rank}`);
    if (task.rank === 4) throw new RestError(418, `${previous?.state} ${task.state}`);
    return await task.save();
  },
}, async (app, model) => {
  await storeMany(model, 3);
  assertEquals((await change(app, { body: BODY })).body, { matched: 3, modified: 3 });
  assertEquals(persisted.splice(0).join(" "), "+0 -0 +1 -1 +2 -2");
  assertEquals(await valuesOf(model, "state"), ["done", "done", "done"]);
  await storeMany(model, 6);
  const refused = await change(app, { body: { state: "gone" } });
  assertEquals([refused.status, persisted], [400, []]);
  const reply = await change(app, { body: BODY });
  assertEquals([reply.status, reply.body.message], [418, "open done"]);
  assertEquals(persisted.join(" "), "+0 -0 +1 -1 +2 -2 +3 -3 +4 -4");
});

hookTest("lets hooks change other fields of each, arrays and objects too", {
  preSave(_req, task) {
    task.tags?.push(`r${task.rank}`);
    task.set("free", { ...task.free, rank: task.rank });
    return task;
  },
}, async (app, model) => {
  await store(model, [
    { title: "a", rank: 0, tags: ["x"], free: { a: 1 } },
    { title: "b", rank: 1, tags: [] },
    { title: "c", rank: 2 },
  ]);
  const reply = await change(app, { body: BODY });
  assertEquals([reply.status, reply.body], [200, { matched: 3, modified: 3 }], reply.text);
  assertEquals(await valuesOf(model, "tags"), [["x", "r0"], ["r1"], ["r2"]]);
  assertEquals(await valuesOf(model, "free"), [{ a: 1, rank: 0 }, { rank: 1 }, { rank: 2 }]);
  assertEquals(await valuesOf(model, "__v"), [1, 1, 1]);
});

hookTest("refuses the objects of another database, unless a persist hook writes them", {
  fetch: () => [{ _id: "a", title: "x" }] as never,
}, async (app, model) => {
  await storeMany(model, 1);
  assertEquals((await change(app, { body: BODY })).status, 500);
  assertEquals(await valuesOf(model, "__v"), [0]);
});

test("updateAll() runs validation and middleware once for each document", async () => {
  const ran: string[] = [];
  const note = (name: string) =>
    function (this: Document) {
      ran.push(`${name} ${this.get("rank")} ${this.get("__v")} ${this.isModified()}`);
    };
  class Watched extends Task {
    static override schemaOptions = { collection: "tasks" };
    static override configure(schema: Schema) {
      schema.pre("validate", note("pre validate"));
      schema.post("validate", note("post validate"));
      schema.pre("save", note("pre save"));
      schema.post("save", note("post save"));
    }
  }
  const model = taskModel({ preSave: pass }, {}, Watched);
  await using mongo = await openReplicaSet();
  await using app = await mount([model], { mongo: mongo.uri });
  await storeMany(model, 2);
  assertEquals((await change(app, { body: BODY })).body, { matched: 2, modified: 2 });
  const of = (rank: number) => [
    ...[`pre validate ${rank} 0 true`, `post validate ${rank} 0 true`, `pre save ${rank} 0 true`],
    `post save ${rank} 1 false`,
  ];
  assertEquals(ran.toSorted(), [...of(0), ...of(1)].toSorted());
  assertEquals(ran.findIndex((each) => each.startsWith("post save")), 6);
  assertEquals(await getModel(model).countDocuments({ state: "done" }), 2);
});
