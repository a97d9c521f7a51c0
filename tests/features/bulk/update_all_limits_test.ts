import { assertEquals } from "@std/assert";
import { getModel, type HooksOf, type ModelClass } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { BOTH, change, storeMany, type Task, taskModel, valuesOf } from "./tasks.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

const BODY = { state: "done" };

type Told = ErrorBody & { readonly limit?: number };

/** Changes all tasks, and gives the status, what is told of a limit, and the preference that was heeded. */
async function tell(app: Mounted, route: string, prefer?: string) {
  const headers: Record<string, string> = prefer === undefined ? {} : { prefer };
  const { status, body, headers: answered } = await change(app, { route, body: BODY, headers });
  const { code, limit } = body as unknown as Told;
  return [status, ...code === undefined ? [] : [code, limit], answered.get("preference-applied")];
}

async function countDone(model: ModelClass<Task>): Promise<number> {
  return (await valuesOf(model, "state")).filter((state) => state === "done").length;
}

test("updateAll() changes nothing where more than max are selected", async (t) => {
  await using mongo = await openReplicaSet();
  const model = taskModel({ max: 3 });
  await using app = await mount([model], { mongo: mongo.uri });
  for (const route of BOTH) {
    await t.step(route, async () => {
      await storeMany(model, 4);
      assertEquals(await tell(app, route), [409, "CONFLICT", 3, null]);
      assertEquals(await valuesOf(model, "__v"), [0, 0, 0, 0]);
      await storeMany(model, 3);
      assertEquals(await tell(app, route), [200, null]);
      assertEquals(await valuesOf(model, "__v"), [1, 1, 1]);
    });
  }
});

test("updateAll() changes nothing where more than max-affected are selected", async (t) => {
  await using mongo = await openReplicaSet();
  const model = taskModel({ max: 5 });
  await using app = await mount([model], { mongo: mongo.uri });
  for (const route of BOTH) {
    await t.step(route, async () => {
      await storeMany(model, 4);
      const applied = "max-affected=";
      assertEquals(await tell(app, route, "max-affected=3"), [409, "CONFLICT", 3, null]);
      assertEquals(await tell(app, route, `max-affected="0"`), [409, "CONFLICT", 0, null]);
      for (const prefer of ["max-affected", "max-affected=", "max-affected=x", "max-affected=-1"]) {
        assertEquals((await tell(app, route, prefer))[0], 400, prefer);
      }
      assertEquals((await tell(app, route, "max-affected=1.5"))[0], 400);
      assertEquals(await valuesOf(model, "__v"), [0, 0, 0, 0]);
      assertEquals(await tell(app, route, "max-affected=4"), [200, `${applied}4`]);
      assertEquals(await tell(app, route, "count=exact, Max-Affected=9"), [200, `${applied}9`]);
      await storeMany(model, 6);
      assertEquals(await tell(app, route, "max-affected=9"), [409, "CONFLICT", 5, null]);
    });
  }
});

test("updateAll() changes 1,000 entities if it says nothing else", async () => {
  await using mongo = await openReplicaSet();
  const model = taskModel();
  await using app = await mount([model], { mongo: mongo.uri });
  for (const route of BOTH) {
    await storeMany(model, 1001);
    assertEquals(await tell(app, route), [409, "CONFLICT", 1000, null]);
    assertEquals(await countDone(model), 0);
    await storeMany(model, 1000);
    assertEquals(await tell(app, route), [200, null]);
    assertEquals(await countDone(model), 1000);
  }
});

test("updateAll() changes as many entities as max says", async () => {
  await using mongo = await openReplicaSet();
  const model = taskModel({ max: false });
  await using app = await mount([model], { mongo: mongo.uri });
  for (const route of BOTH) {
    await storeMany(model, 3000);
    assertEquals(await tell(app, route), [200, null]);
    assertEquals(await countDone(model), 3000);
  }
});

/** Hooks that leave out what a reader may not see. */
const HIDING: Readonly<Record<string, HooksOf<Task>>> = {
  "a scope": {},
  "a filter of preFetch": {
    preFetch: (req) => {
      req.framework.filter = { $and: [req.framework.filter, { owner: "me" }] };
      return true;
    },
  },
  "postFetch": { postFetch: (_req, task) => task.owner === "me" ? task : null },
};

test("updateAll() counts, changes and tells of nothing that its reader may not see", async (t) => {
  await using mongo = await openReplicaSet();
  for (const [name, hooks] of Object.entries(HIDING)) {
    const scope = () => ({ owner: "me" });
    const model = taskModel({ max: 3, ...hooks }, name === "a scope" ? { scope } : {});
    await using app = await mount([model], { mongo: mongo.uri });
    for (const route of BOTH) {
      await t.step(`${name}, ${route}`, async () => {
        await storeMany(model, 9, { owner: "you" });
        const headers = { prefer: "max-affected=0" };
        const none = await change(app, { route, body: BODY, headers });
        assertEquals([none.status, none.body], [200, { matched: 0, modified: 0 }]);
        const mineNow = { $set: { owner: "me" } };
        await getModel(model).collection.updateMany({ rank: { $in: [1, 4, 7] } }, mineNow);
        const mine = await change(app, { route, body: BODY });
        assertEquals([mine.status, mine.body], [200, { matched: 3, modified: 3 }]);
        assertEquals(await valuesOf(model, "__v"), [0, 1, 0, 0, 1, 0, 0, 1, 0]);
        const fewer = await change(app, {
          route,
          body: BODY,
          headers: { prefer: "max-affected=2" },
        });
        assertEquals(fewer.status, 409);
        assertEquals(await valuesOf(model, "__v"), [0, 1, 0, 0, 1, 0, 0, 1, 0]);
      });
    }
  }
});

test("updateAll() obeys the limit of a hook", async () => {
  await using mongo = await openReplicaSet();
  const preFetch: HooksOf<Task>["preFetch"] = (req) => {
    req.framework.options = { limit: 2, skip: 1, sort: { rank: 1 } };
    return true;
  };
  const model = taskModel({ max: 3, preFetch });
  await using app = await mount([model], { mongo: mongo.uri });
  for (const route of BOTH) {
    await storeMany(model, 9);
    const reply = await change(app, { route, body: BODY });
    assertEquals([reply.status, reply.body], [200, { matched: 2, modified: 2 }]);
    assertEquals(await valuesOf(model, "__v"), [0, 1, 1, 0, 0, 0, 0, 0, 0]);
  }
});

test("updateAll() counts what a fetch hook gives", async () => {
  await using mongo = await openReplicaSet();
  const fetch: HooksOf<Task>["fetch"] = (req) => req.framework.model().then((all) => all.find());
  const model = taskModel({ max: 3, fetch, preSave: pass });
  await using app = await mount([model], { mongo: mongo.uri });
  await storeMany(model, 4);
  assertEquals((await change(app, { body: BODY })).status, 409);
  assertEquals(await valuesOf(model, "__v"), [0, 0, 0, 0]);
  await storeMany(model, 3);
  assertEquals((await change(app, { body: BODY })).body, { matched: 3, modified: 3 });
  assertEquals(await valuesOf(model, "__v"), [1, 1, 1]);
});
