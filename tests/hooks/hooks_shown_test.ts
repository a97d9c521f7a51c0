import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { type Entity, type FrameworkRequest, getModel, type HooksOf } from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { callsFor, everywhere, hooked, type Item, store } from "../support/hooked.ts";
import { mount } from "../support/support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

test("preSend replaces the entity in the answer when it gives a reduced object", async (t) => {
  const preSend = (_req: ItemRequest, { _id, name }: ItemEntity) => ({ _id, name });
  for (const [operation, method, path] of callsFor(":id").slice(0, 4)) {
    await t.step(operation, async () => {
      const model = hooked({ [operation]: { preSend } });
      await using app = await mount([model]);
      const doc = await getModel(model).create({ name: "a", owner: "o", rank: 1 });

      const { body } = await app.send<object>(method, path.replace(":id", String(doc._id)), {
        body: /P/.test(method) ? { name: "a" } : undefined,
      });

      const entity = Array.isArray(body) ? body[0] : body;
      assertEquals(Object.keys(entity).sort(), ["_id", "name"]);
    });
  }
});

test("postFetch hands its reduced object to preSend when it gives one", async () => {
  const seen: unknown[] = [];
  const hooks: HooksOf<Item> = {
    postFetch: (_req, { name }) => ({ name }),
    preSend: (_req, entity) => {
      seen.push(entity);
      return { ...entity, more: 1 };
    },
  };
  const model = hooked({ all: hooks });
  await using app = await mount([model]);
  await store(model, "a");

  const { body } = await app.get("/items");

  assertEquals(seen, [{ name: "a" }]);
  assertEquals(body, [{ name: "a", more: 1 }]);
});

const SECRET = /s3cret/;

/** The ways in which a hook may copy an entity. */
const COPIES: [string, (entity: ItemEntity) => object][] = [
  ["the document", (entity) => entity],
  ["toObject()", (entity) => entity.toObject()],
  ["toObject() with virtuals", (entity) => entity.toObject({ virtuals: true, getters: true })],
  ["a spread", (entity) => ({ ...entity.toObject() })],
  ["toJSON()", (entity) => entity.toJSON()],
  ["a structured clone", (entity) => structuredClone(entity.toObject({ flattenObjectIds: true }))],
  [
    "an object without prototype",
    (entity) => Object.assign(Object.create(null), entity.toObject()),
  ],
  [
    "some fields, documents in them",
    ({ name, secret, part, parts }) => ({ name, secret, part, parts }) as object,
  ],
  ["a class instance", (entity) => Object.assign(new (class Copy {})(), entity.toObject())],
  ["an object with the document in it", (entity) => ({ entity })],
  ["a list of the document", (entity) => [entity, entity.toObject()]],
  ["a map", (entity) => new Map(Object.entries(entity.toObject()))],
];

test("hidden fields are in no answer, whatever copy preSend gives", async (t) => {
  for (const [name, copy] of COPIES) {
    await t.step(name, async () => {
      const preSend = (_req: ItemRequest, entity: ItemEntity) => copy(entity);
      const model = hooked({ all: { preSend }, one: { preSend }, update: { preSend } });
      await using app = await mount([model]);
      const part = { label: "l", secret: "s3cret" };
      const doc = await getModel(model).create({
        name: "a",
        secret: "s3cret",
        part,
        parts: [part, part],
      });

      for (const [_operation, method, path] of callsFor(String(doc._id)).slice(0, 4)) {
        const body = /P/.test(method) ? { secret: "s3cret", part, parts: [part] } : undefined;
        const { text, status } = await app.send(method, path, { body });
        assert(status < 300, `${status} ${text}`);
        assertNotMatch(text, SECRET);
      }
    });
  }
});

test("hidden fields are in no answer when the hooks make Mongoose give plain objects", async () => {
  const preFetch = (req: ItemRequest) => {
    req.framework.options.lean = true;
    return true;
  };
  const model = hooked(everywhere({ preFetch }));
  await using app = await mount([model]);
  const part = { label: "l", secret: "s3cret" };
  const doc = await getModel(model).create({ name: "a", secret: "s3cret", part, parts: [part] });

  for (const [_operation, method, path] of callsFor(String(doc._id)).slice(0, 4)) {
    const body = /P/.test(method) ? { name: "b" } : undefined;
    const { text, status } = await app.send(method, path, { body });
    assert(status < 300, `${status} ${text}`);
    assertNotMatch(text, SECRET);
  }
});

test("hidden fields are at hand in every hook", async () => {
  const seen: unknown[] = [];
  const look = (_req: ItemRequest, entity: ItemEntity) => {
    seen.push([entity.secret, entity.part?.secret]);
    return entity;
  };
  const model = hooked({ one: { postFetch: look, preSend: look } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ secret: "s", part: { secret: "t" } });

  await app.get(`/items/${doc._id}`);

  assertEquals(seen, [["s", "t"], ["s", "t"]]);
});
