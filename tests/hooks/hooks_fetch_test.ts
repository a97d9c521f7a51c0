import { assertEquals } from "@std/assert";
import {
  type Entity,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  RestError,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item, namesIn, store } from "../support/hooked.ts";
import { mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

/** What a fetch hook may give for a list. */
const FETCHED: [string, (model: ModelClass<Item>) => unknown, names: string][] = [
  ["a query", (model) => getModel(model).find({ name: "a" }), "a"],
  ["a lean query", (model) => getModel(model).find({ name: "a" }).lean(), "a"],
  ["a promise of documents", (model) => getModel(model).find().exec(), "ab"],
  ["a cursor", (model) => getModel(model).find().cursor(), "ab"],
  ["a list of plain objects", () => [{ name: "x" }, { name: "y" }], "xy"],
  ["a generator", async function* () {
    yield { name: "x" };
  }, "x"],
  ["one entity", () => ({ name: "x" }), "x"],
  ["an empty list", () => [], ""],
  ["nothing", () => null, ""],
  ["a list with what is no entity", () => [null, "s", 0, { name: "x" }, NaN, false, 5n], "x"],
  ["a generator of what is no entity", async function* () {
    yield null;
    yield { name: "x" };
    yield "s";
  }, "x"],
];

test("fetch replaces what a list reads, whatever it gives", async (t) => {
  for (const [name, fetch, names] of FETCHED) {
    await t.step(name, async () => {
      const model: ModelClass<Item> = hooked({ all: { fetch: () => fetch(model) } });
      await using app = await mount([model]);
      await store(model, "a", "b");

      const { status, body } = await app.get<{ name: string }[]>("/items");

      assertEquals(status, 200);
      assertEquals(body.map((item) => item.name).sort().join(""), names);
    });
  }
});

test("fetch and persist serve another database, with plain objects all the way", async () => {
  const other = new Map([["x y", { _id: "x y", name: "a", secret: "s3cret" }]]);
  const fetch = (req: ItemRequest) => other.get(String(req.params.id));
  const persist = (_req: ItemRequest, entity: ItemEntity, previous?: ItemEntity) => {
    assertEquals(previous?.name, "a");
    other.set("x y", entity as never);
    return entity;
  };
  const model = hooked({ one: { fetch }, update: { fetch, persist } });
  await using app = await mount([model]);

  const patch = await app.patch("/items/x%20y", { name: "b" });
  const read = await app.get("/items/x%20y");
  const gone = await app.get("/items/z");

  assertEquals(patch.body as object, { _id: "x y", name: "b" });
  assertEquals([read.status, read.body], [200, { _id: "x y", name: "b" }]);
  assertEquals(gone.status, 404);
  assertEquals(other.get("x y"), { _id: "x y", name: "b", secret: "s3cret" });
});

test("update() and remove() answer 500, and write nothing, when fetch gives plain objects and no hook persists", async () => {
  const errors: unknown[] = [];
  const fetch = () => ({ _id: "507f1f77bcf86cd799439011", name: "a" });
  const model = hooked({ update: { fetch }, remove: { fetch }, removeAll: { fetch } });
  const onError = (_req: unknown, error: unknown) => {
    errors.push(error);
    return new RestError(500, "hushed");
  };
  await using app = await mount([model], { onError });
  await store(model, "a");

  for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011").slice(3)) {
    const body = operation === "update" ? { name: "b" } : undefined;
    assertEquals((await app.send(method, path, { body })).status, 500);
  }

  assertEquals(errors.length, 3);
  assertEquals(await namesIn(model), ["a"]);
});

test("persist replaces the write when it is given", async () => {
  const persist = (_req: ItemRequest, entity: ItemEntity) => ({ _id: entity._id, name: "kept" });
  const model = hooked(everywhere({ persist }));
  await using app = await mount([model]);
  const [id] = await store(model, "a");

  const replies = [];
  for (const [_operation, method, path] of callsFor(String(id)).slice(2)) {
    const body = /P/.test(method) ? { name: "b" } : undefined;
    replies.push(
      await app.send<{ name: string } | undefined>(method, path, { body }),
    );
  }

  assertEquals(replies.map(({ status }) => status), [201, 200, 204, 204]);
  assertEquals(replies.map(({ body }) => body?.name), ["kept", "kept", undefined, undefined]);
  assertEquals(await namesIn(model), ["a"]);
});
