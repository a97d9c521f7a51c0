import { assert, assertEquals } from "@std/assert";
import { all, arrayProp, create, FrameworkModel, one, prop, remove, rest } from "../../../mod.ts";
import type { Ref } from "../../../mod.ts";
import { pass } from "../../support/both_paths.ts";
import type { EntityBody } from "../../support/client.ts";
import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { test } from "../../harness/testing.ts";
import { age, IDEMPOTENCY, keyed, textsAt } from "./keyed.ts";
import { mount, type Mounted } from "../../support/support.ts";

const idempotency = { ...IDEMPOTENCY, caller: () => "" };
const methods = [create({ many: 100, idempotency }), one(), all(), remove()];

class Keyed extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

class Card extends Keyed {}

class Person extends Keyed {}

@rest({ route: "/direct", methods })
@rest({
  route: "/documents",
  methods: [create({ many: 100, idempotency, preSave: pass }), one(), all(), remove()],
})
@rest({
  route: "/scoped",
  methods: [create({ many: 100, idempotency }), all()],
  scope: () => ({ text: { $ne: "hidden" } }),
})
class Board extends Keyed {
  @rest({ methods })
  @arrayProp({ items: Card, embedded: true })
  cards?: Card[];
  @rest({ methods })
  @arrayProp({ items: Person })
  people?: Ref<Person>[];
}

/** Serves the model from a replica set; gives the lists. */
async function openBoards() {
  const mongo = await sharedReplicaSet();
  const app = await mount([Board], { mongo, onError: () => {} });
  const { _id } = await app.created("/direct", { text: "board" });
  return {
    app,
    lists: ["/direct", "/documents", `/direct/${_id}/cards`, `/direct/${_id}/people`],
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
    },
  };
}

const BODIES = Array.from({ length: 40 }, (_, index) => ({ text: `t${index}` }));

const send = (app: Mounted, path: string, body: unknown = BODIES, others = {}) =>
  app.post<EntityBody[]>(path, body, keyed("k", others));

test("a key makes many entities once", async (t) => {
  await using boards = await openBoards();
  const { app, lists } = boards;
  for (const path of lists) {
    await t.step(path, async () => {
      const before = await textsAt(app, path);
      const first = await send(app, path);
      const second = await send(app, path);
      assertEquals([first.status, second.status], [201, 201]);
      assertEquals(first.body.map(({ text }) => ({ text })), BODIES);
      assertEquals(second.body, first.body);
      assertEquals((await textsAt(app, path)).length, before.length + BODIES.length);
      assertEquals((await send(app, path, BODIES.slice(1))).status, 422);
      // What is gone is left out, and not created again
      const [gone] = first.body;
      assertEquals((await app.delete(`${path}/${gone?._id}`)).status, 204);
      assertEquals((await send(app, path)).body, first.body.slice(1));
      const minimal = await send(app, path, BODIES, { prefer: "return=minimal" });
      assertEquals([minimal.status, minimal.text], [201, ""]);
      assertEquals(minimal.headers.get("preference-applied"), "return=minimal");
      for (const name of ["location", "etag"]) assertEquals(minimal.headers.get(name), null);
    });
  }
});

test("a key of many entities is resumed: with them where they are stored, else anew", async (t) => {
  await using boards = await openBoards();
  const { app, lists } = boards;
  const keys = app.database.connection.collection("mongrove_keys");
  for (const path of lists) {
    await t.step(path, async () => {
      await keys.deleteMany({});
      const before = await textsAt(app, path);
      const first = await send(app, path);
      // As if the process had ended before its last statement
      await keys.updateMany({}, { $unset: { isDone: 1 } });
      assertEquals((await send(app, path)).status, 409);
      await age(app.database);
      assertEquals((await send(app, path)).body, first.body);
      // As if it had ended before its first write
      await keys.updateMany({}, { $unset: { isDone: 1 } });
      for (const { _id } of first.body) {
        assertEquals((await app.delete(`${path}/${_id}`)).status, 204);
      }
      await age(app.database);
      const again = await send(app, path);
      assertEquals(again.body, first.body);
      assertEquals((await textsAt(app, path)).length, before.length + BODIES.length);
    });
  }
});

test("one of many that is refused frees the key of all", async () => {
  await using boards = await openBoards();
  const { app, lists } = boards;
  for (const path of lists) {
    const before = await textsAt(app, path);
    const refused = await send(app, path, [...BODIES, {}]);
    assertEquals(refused.status, 400);
    assertEquals(await textsAt(app, path), before);
    assertEquals((await send(app, path)).status, 201);
  }
});

test("a replay of many shows those that are in the scope", async () => {
  await using boards = await openBoards();
  const { app } = boards;
  const { body } = await send(app, "/scoped");
  const [first] = body;
  await app.database.connection.collection("boards")
    .updateOne({ text: first?.text }, { $set: { text: "hidden" } });
  assertEquals((await send(app, "/scoped")).body, body.slice(1));
});

test("a key of no entities, and of one in an array", async () => {
  await using boards = await openBoards();
  const { app } = boards;
  for (const _ of [1, 2]) {
    const none = await app.post("/direct", [], keyed("none"));
    assertEquals([none.status, none.text], [201, "[]"]);
  }
  const one = [{ text: "one" }];
  const made = await app.post("/documents", one, keyed("one"));
  const again = await app.post("/documents", one, keyed("one"));
  assertEquals([made.status, Array.isArray(made.body)], [201, true]);
  assertEquals(again.body, made.body);
  assertEquals((await app.post("/documents", one[0], keyed("one"))).status, 422);
  assert((await textsAt(app, "/direct")).includes("one"));
});
