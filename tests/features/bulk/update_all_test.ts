import { assertEquals } from "@std/assert";
import { getModel, type ModelClass } from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount, type Mounted } from "../../support/support.ts";
import { BOTH, change, store, storeMany, type Task, taskModel, valuesOf } from "./tasks.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

type Step = (app: Mounted, model: ModelClass<Task>) => Promise<void>;

/** The rules that hold with documents and without. */
const RULES: Readonly<Record<string, Step>> = {
  async "changes what q selects, counts versions, and answers how many they were"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 5);
      const reply = await change(app, {
        ...{ route, filter: { rank: { $gte: 2 } }, body: { state: "done", owner: "me" } },
      });
      assertEquals([reply.status, reply.text], [200, `{"matched":3,"modified":3}`]);
      const [open, done] = [["open", "open"], ["done", "done", "done"]];
      assertEquals(await valuesOf(model, "state"), [...open, ...done]);
      assertEquals(await valuesOf(model, "__v"), [0, 0, 1, 1, 1]);
      const changed = (await valuesOf(model, "updatedAt")).map((at) => at instanceof Date);
      assertEquals(changed, [false, false, true, true, true]);
      const same = await change(app, { route, filter: { state: "done" }, body: { owner: "me" } });
      assertEquals(same.body, { matched: 3, modified: 3 });
      assertEquals(await valuesOf(model, "__v"), [0, 0, 2, 2, 2]);
      assertEquals((await change(app, { route, filter: { rank: 9 }, body: {} })).text, NOTHING);
    }
  },
  async "needs q, and takes {} for all"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 3);
      const bad = ["", "?", "?q", "?q=", "?q=undefined", "?q=null", "?q=[]", "?q[rank]=1", "?Q={}"]
        .concat("?q={}&q={}", "?q={}&rank=1", "?filter={}", asQuery({ unknown: 1 }), "/", "//");
      for (const query of bad) {
        const reply = await app.patch<ErrorBody>(`${route}${query}`, { state: "done" });
        const isRoute = query !== "//";
        assertEquals([query, reply.status], [query, isRoute ? 400 : 404], reply.text);
      }
      const missing = await app.patch<ErrorBody & { parameter: string }>(route, { state: "done" });
      assertEquals([missing.body.code, missing.body.parameter], ["BAD_FORMAT", "q"]);
      assertEquals(await valuesOf(model, "__v"), [0, 0, 0]);
      const reply = await change(app, { route, body: { state: "done" } });
      assertEquals(reply.body, { matched: 3, modified: 3 });
    }
  },
  async "sets only the fields that it names, and no one else's"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 2);
      const bodies = [{ state: "done", createdAt: 1, unknown: 2 }, { _id: "x" }, { __v: 5 }];
      for (const body of bodies) {
        const reply = await app.patch<ErrorBody>(`${route}${asQuery({})}`, body);
        const { code, errors = {} } = reply.body;
        const names = Object.keys(body).filter((name) => name !== "state");
        assertEquals([reply.status, code, Object.keys(errors)], [400, "BAD_DATA", names]);
      }
      assertEquals(await valuesOf(model, "__v"), [0, 0]);
    }
  },
  async "takes null for what is cleared, unless it is required"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 2, { owner: "me", note: "some", tags: ["a"] });
      const body = { owner: null, note: null, rank: 7 };
      assertEquals((await change(app, { route, body })).body, { matched: 2, modified: 2 });
      assertEquals(await valuesOf(model, "owner"), [undefined, undefined]);
      assertEquals(await valuesOf(model, "note"), ["none", "none"]);
      const refused = await app.patch<ErrorBody>(`${route}${asQuery({})}`, { title: null });
      assertEquals([refused.status, Object.keys(refused.body.errors ?? {})], [400, ["title"]]);
      assertEquals(await valuesOf(model, "__v"), [1, 1]);
    }
  },
  async "casts and validates as update() does, and writes none of what is refused"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 3);
      for (
        const body of [{ state: "gone" }, { rank: -1 }, { rank: "x" }, { tags: "a" }, {
          place: { room: "1" },
        }, { state: {} }]
      ) {
        const reply = await app.patch<ErrorBody>(`${route}${asQuery({})}`, body);
        assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"], reply.text);
      }
      assertEquals(await valuesOf(model, "__v"), [0, 0, 0]);
      const body = { rank: "5", tags: ["A", "b"], due: "2026-01-01T00:00:00.000Z", secret: "s" };
      assertEquals((await change(app, { route, body })).body, { matched: 3, modified: 3 });
      assertEquals(await valuesOf(model, "rank"), [5, 5, 5]);
      assertEquals(await valuesOf(model, "tags"), Array(3).fill(["a", "b"]));
      assertEquals((await valuesOf(model, "due"))[0] instanceof Date, true);
    }
  },
  async "refuses what cannot be cast where nothing is selected, too"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 1);
      for (const body of [{ rank: "x" }, { tags: 1, state: {} }, { place: "a" }]) {
        const reply = await app.patch<ErrorBody>(`${route}${asQuery({ rank: 9 })}`, body);
        assertEquals([reply.status, Object.keys(reply.body.errors ?? {})], [
          ...[400, Object.keys(body)],
        ]);
      }
      const { body } = await change(app, { route, filter: { rank: 9 }, body: { rank: 5 } });
      assertEquals(body, { matched: 0, modified: 0 });
    }
  },
  async "merges objects into those of each entity"(app, model) {
    await store(model, [
      { title: "a", place: { town: "A", room: "1" }, free: { a: 1 } },
      { title: "b", place: { town: "B" } },
      { title: "c", free: { b: { c: 1 } } },
    ]);
    const body = { place: { town: "X" }, free: { b: { d: 2 } } };
    assertEquals((await change(app, { body })).body, { matched: 3, modified: 3 });
    const places = (await valuesOf(model, "place")).map((each) => ({ ...Object(each), _id: 0 }));
    const whole = { town: "X", room: "1", _id: 0 };
    assertEquals(places, [whole, { town: "X", _id: 0 }, { town: "X", _id: 0 }]);
    assertEquals(await valuesOf(model, "free"), [
      ...[{ a: 1, b: { d: 2 } }, { b: { d: 2 } }, { b: { c: 1, d: 2 } }],
    ]);
  },
  async "counts on from versions, also where there is none"(app, model) {
    for (const route of BOTH) {
      const versions = [3, undefined];
      await store(model, versions.map((__v, rank) => ({ title: "t", state: "open", rank, __v })));
      await getModel(model).collection.updateOne({ rank: 1 }, { $unset: { __v: 1 } });
      const reply = await change(app, { route, body: { state: "done" } });
      assertEquals([reply.status, reply.body], [200, { matched: 2, modified: 2 }]);
      assertEquals(await valuesOf(model, "__v"), [4, 1], route);
      assertEquals(await valuesOf(model, "state"), Array(2).fill("done"));
    }
  },
  async "refuses If-Match: no list has a tag"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 1);
      for (const tag of [`"0"`, `"1.abc"`, "x"]) {
        const headers = { "if-match": tag };
        assertEquals((await change(app, { route, body: {}, headers })).status, 412);
      }
      assertEquals(
        (await change(app, { route, body: {}, headers: { "if-match": "*" } })).status,
        200,
      );
    }
  },
  async "changes none where a value must be unique, and says which field"(app, model) {
    for (const route of BOTH) {
      await storeMany(model, 3);
      const reply = await app.patch<ErrorBody>(`${route}${asQuery({})}`, { slug: "one" });
      assertEquals([reply.status, reply.body.code, reply.body.fields], [409, "CONFLICT", ["slug"]]);
      assertEquals(await valuesOf(model, "__v"), [0, 0, 0]);
      assertEquals(await valuesOf(model, "slug"), [undefined, undefined, undefined]);
      const one = await change(app, { route, filter: { rank: 1 }, body: { slug: "one" } });
      assertEquals(one.body, { matched: 1, modified: 1 });
    }
  },
  async "needs a body of JSON"(app) {
    const at = `/tasks${asQuery({})}`;
    assertEquals((await app.send("PATCH", at)).status, 400);
    assertEquals((await app.patch(at, [])).status, 400);
    const options = { raw: "a=1", headers: { "content-type": "text/plain" } };
    assertEquals((await app.send("PATCH", at, options)).status, 415);
  },
};

const NOTHING = `{"matched":0,"modified":0}`;

test("updateAll() on a replica set", async (t) => {
  await using mongo = await openReplicaSet();
  const model = taskModel();
  await using app = await mount([model], { mongo: mongo.uri });
  for (const [name, step] of Object.entries(RULES)) await t.step(name, () => step(app, model));
});

test("updateAll() without entity hooks is a count and one statement in a transaction", async () => {
  await using mongo = await openReplicaSet();
  const model = taskModel({}, { scope: () => ({ owner: { $in: ["me", "you"] } }) });
  await using app = await mount([model], { mongo: mongo.uri });
  const sent = await watchCommands(app.database.uri);
  await storeMany(model, 3, { owner: "me" });
  await change(app, { body: { state: "done" } });
  sent.length = 0;
  const names = async (route: string, body: object) => {
    sent.length = 0;
    assertEquals((await change(app, { route, body })).body, { matched: 3, modified: 3 });
    return sent.map(({ name }) => name).join(" ");
  };
  const direct = "aggregate update commitTransaction";
  assertEquals(await names("/tasks", { state: "open", tags: ["a"] }), direct);
  assertEquals(await names("/hooked", { state: "open" }), "find update commitTransaction");
  // What the scope reads is judged before it is written.
  const judged = "find aggregate update commitTransaction";
  assertEquals(await names("/tasks", { owner: "you" }), judged);
  assertEquals(await valuesOf(model, "owner"), ["you", "you", "you"]);
  assertEquals((await change(app, { body: { owner: "nobody" } })).status, 403);
  assertEquals(await valuesOf(model, "owner"), ["you", "you", "you"]);
});
