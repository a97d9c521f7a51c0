import { assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  type Entity,
  type FrameworkRequest,
  getModel,
  type ModelClass,
  type QueryObject,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { gate } from "../support/race.ts";
import { mount } from "../support/support.ts";
import {
  type Fields,
  namesIn,
  scoped,
  type ScopedFields,
  store,
  stored,
} from "../fixtures/scoped.ts";

const DAY = new Date("2020-01-01");
const TEAM = "507f1f77bcf86cd799439011";

/** Scopes, each with a body that is inside and one that is outside; Mongoose casts what they hold. */
const JUDGED: [string, QueryObject, inside: Fields, outside: Fields][] = [
  ["text", { owner: "me" }, { owner: "me" }, { owner: "Me" }],
  ["a number as text", { rank: "5" }, { rank: 5 }, { rank: 6 }],
  ["an identifier as text", { team: TEAM }, { team: TEAM }, { team: "6".repeat(24) }],
  ["a date", { day: DAY }, { day: DAY }, { day: "2020-01-02" }],
  ["a date as text", { day: { $lte: "2020-01-01" } }, { day: DAY }, { day: "2020-01-02" }],
  ["an int64", { big: { $gt: 5n } }, { big: 6 }, { big: 5 }],
  ["two keys", { owner: "me", rank: 1 }, { owner: "me", rank: 1 }, { owner: "me", rank: 2 }],
  ["null", { owner: null }, { owner: null }, { owner: "me" }],
  ["$exists", { owner: { $exists: true } }, { owner: "x" }, { owner: null }],
  ["not $exists", { owner: { $exists: false } }, { owner: null }, { owner: "x" }],
  ["$type", { owner: { $type: "string" } }, { owner: "x" }, { owner: null }],
  ["$or", { $or: [{ owner: "me" }, { rank: 1 }] }, { owner: "x", rank: 1 }, { rank: 2 }],
  ["$nor", { $nor: [{ owner: "them" }] }, { owner: "me" }, { owner: "them" }],
  ["$and", { $and: [{ rank: { $gt: 1 } }, { rank: { $lt: 3 } }] }, { rank: 2 }, { rank: 3 }],
  ["$in", { rank: { $in: [1, "2"] } }, { rank: 2 }, { rank: 3 }],
  ["$ne", { owner: { $ne: "them" } }, { owner: "me" }, { owner: "them" }],
  ["$not", { rank: { $not: { $gt: 5 } } }, { rank: 5 }, { rank: 6 }],
  ["$mod", { rank: { $mod: [2, 0] } }, { rank: 4 }, { rank: 5 }],
  ["an expression", { owner: /^m/i }, { owner: "Me" }, { owner: "them" }],
  ["$regex", { owner: { $regex: "^m", $options: "i" } }, { owner: "ME" }, { owner: "x" }],
  ["$expr", { $expr: { $eq: ["$owner", "$name"] } }, { owner: "n", name: "n" }, { owner: "x" }],
  ["embedded", { "part.label": "x" }, { part: { label: "x" } }, { part: { label: "y" } }],
  ["an array", { tags: "x" }, { tags: ["y", "x"] }, { tags: ["y"] }],
  ["$size", { tags: { $size: 1 } }, { tags: ["x"] }, { tags: [] }],
  ["array by index", { "tags.0": "x" }, { tags: ["x", "y"] }, { tags: ["y", "x"] }],
  [
    "$elemMatch",
    { parts: { $elemMatch: { label: "x", size: { $gt: 5 } } } },
    { parts: [{ label: "x", size: 6 }] },
    { parts: [{ label: "x", size: 5 }, { label: "y", size: 6 }] },
  ],
  ["a map", { "map.k": "v" }, { map: { k: "v" } }, { map: { k: "w" } }],
  ["free-form", { "free.a.b": 1 }, { free: { a: { b: 1 } } }, { free: { a: { b: 2 } } }],
  ["a secret", { secret: "s" }, { secret: "s" }, { secret: "t" }],
  ["a field that is not read", { unread: "s" }, { unread: "s" }, { unread: "t" }],
];

test("scope keeps out what would be created or updated to be outside of it", async (t) => {
  let scope: QueryObject = {};
  const model = scoped(() => scope);
  await using app = await mount([model]);
  const url = "/items";
  for (const [name, given, inside, outside] of JUDGED) {
    await t.step(name, async () => {
      scope = given;
      const made = await app.post<Fields>(url, inside);
      assertEquals([made.status, (await stored(model)).length], [201, 1], made.text);
      const refused = await app.post<{ code: string }>(url, outside);
      assertEquals([refused.status, refused.body.code], [403, "FORBIDDEN"]);
      assertEquals((await stored(model)).length, 1);

      const before = await stored(model);
      const left = await app.patch<Fields>(`${url}/${before[0]?._id}`, outside);
      assertEquals(left.status, 403, left.text);
      assertEquals(await stored(model), before);
      const kept = await app.patch<Fields>(`${url}/${before[0]?._id}`, inside);
      assertEquals(kept.status, 200, kept.text);
      assertEquals((await app.delete(`${url}/${before[0]?._id}`)).status, 204);
      assertEquals(await stored(model), []);
    });
  }
});

test("scope is not changed by Mongoose when it holds what is to be cast", async () => {
  const scope = { rank: { $in: ["1", "2"] }, $or: [{ day: "2020-01-01" }, { team: TEAM }] };
  const before = structuredClone(scope);
  const model = scoped(() => scope);
  await using app = await mount([model]);

  await app.post("/items", { rank: 1, team: TEAM });
  const [doc] = await stored(model);
  await app.patch(`/items/${doc?._id}`, { rank: 2 });
  await app.get("/items");
  await app.delete("/items");

  assertEquals(scope, before);
  assertEquals(await stored(model), []);
});

test("scope by _id binds to that entity, and no other is changed", async (t) => {
  const forms: [string, (id: string) => unknown][] = [
    ["text", (id) => id],
    ["an identifier", (id) => new mongoose.Types.ObjectId(id)],
    ["$in", (id) => ({ $in: [id] })],
    ["$eq", (id) => ({ $eq: id })],
  ];
  for (const [name, form] of forms) {
    await t.step(name, async () => {
      let allowed = "";
      const model = scoped(() => ({ _id: form(allowed) }));
      await using app = await mount([model]);
      const url = "/items";
      const [mine = "", theirs] = await store(model, { name: "m" }, { name: "t" });
      allowed = mine;

      assertEquals((await app.get<Fields[]>(url)).body.length, 1);
      assertEquals((await app.patch(`${url}/${theirs}`, { name: "x" })).status, 404);
      assertEquals((await app.patch(`${url}/${mine}`, { name: "M" })).status, 200);
      assertEquals((await app.post(url, { name: "x" })).status, 403);
      assertEquals(await namesIn(model), "Mt");
      assertEquals((await app.delete(`${url}/${theirs}`)).status, 404);
      assertEquals((await app.delete(url)).status, 204);
      assertEquals(await namesIn(model), "t");
    });
  }
});

test("scope by _id of several changes the one that is named in the path, and no other", async (t) => {
  for (const method of ["PATCH", "DELETE"]) {
    await t.step(method, async () => {
      const ids: string[] = [];
      const model = scoped(() => ({ _id: { $in: ids } }));
      await using app = await mount([model]);
      ids.push(...await store(model, { name: "a" }), ...await store(model, { name: "b" }));

      const body = method === "PATCH" ? { name: "x" } : undefined;
      const { status } = await app.send(method, `/items/${ids[1]}`, { body: body });

      assertEquals(status, method === "PATCH" ? 200 : 204);
      assertEquals(await namesIn(model), method === "PATCH" ? "ax" : "a");
    });
  }
});

test("scope by _id keeps a write from the entity that it names when fetch gives another", async (t) => {
  for (const method of ["PATCH", "DELETE"]) {
    await t.step(method, async () => {
      let named = "";
      const fetch = (req: FrameworkRequest) => getModel(model).findById(req.params.id);
      const model: ModelClass<ScopedFields> = scoped(() => ({ _id: named }), { fetch });
      await using app = await mount([model]);
      const [given, other = ""] = await store(model, { name: "a" }, { name: "b" });
      named = other;

      const body = method === "PATCH" ? { name: "x" } : undefined;
      const { status } = await app.send(method, `/items/${given}`, { body: body });

      assertEquals(status, method === "PATCH" ? 403 : 409);
      assertEquals(await namesIn(model), "ab");
    });
  }
});

/** Scopes, and the change that takes an entity of owner "me" out of them. */
const LEAVES: [string, QueryObject][] = [
  ["text", { owner: "me" }],
  ["$in", { owner: { $in: ["me"] } }],
  ["$or", { $or: [{ owner: "me" }, { rank: 99 }] }],
  ["an expression", { owner: /^me$/ }],
];

test("scope answers 409, and nothing is changed, when the entity leaves it between fetch and write", async (t) => {
  for (const [name, scope] of LEAVES) {
    for (const method of ["PATCH", "DELETE"]) {
      await t.step(`${method} ${name}`, async () => {
        const preSave = async (_req: FrameworkRequest, entity: Entity<ScopedFields>) => {
          await getModel(model).collection.updateOne({ _id: entity._id }, {
            $set: { owner: "them" },
          });
          return entity;
        };
        const model: ModelClass<ScopedFields> = scoped(() => scope, { preSave });
        await using app = await mount([model]);
        const [id] = await store(model, { name: "m", owner: "me" });

        const body = method === "PATCH" ? { name: "x" } : undefined;
        const reply = await app.send<Fields>(method, `/items/${id}`, { body: body });

        assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
        assertEquals((await stored(model)).map(({ name, owner }) => [name, owner]), [
          ["m", "them"],
        ]);
      });
    }
  }
});

test("removeAll() leaves an entity that leaves the scope before the write", async () => {
  const preSave = async (_req: FrameworkRequest, entity: Entity<ScopedFields>) => {
    if (entity.name === "b") {
      await getModel(model).collection.updateOne({ _id: entity._id }, { $set: { owner: "them" } });
    }
    return entity;
  };
  const model: ModelClass<ScopedFields> = scoped(() => ({ owner: "me" }), { preSave });
  await using app = await mount([model]);
  await store(model, { name: "a", owner: "me" }, { name: "b", owner: "me" });

  const { status } = await app.delete("/items");

  assertEquals(status, 204);
  assertEquals(await namesIn(model), "b");
});

function leaveBeforeSave(schema: Schema): void {
  schema.pre("save", function () {
    this.set("owner", "them");
  });
}

test("scope judges what hooks and middleware have made of the entity", async (t) => {
  const leave = (entity: Entity<ScopedFields>) => {
    entity.owner = "them";
    return entity;
  };
  const ways: [string, ModelClass][] = [
    ["preSave", scoped(() => ({ owner: "me" }), { preSave: (_req, entity) => leave(entity) })],
    ["middleware", scoped(() => ({ owner: "me" }), { configure: leaveBeforeSave })],
  ];
  for (const [name, model] of ways) {
    await t.step(name, async () => {
      await using app = await mount([model]);
      const url = "/items";
      await getModel(model).collection.insertOne({ name: "m", owner: "me", __v: 0 });
      const [doc] = await stored(model);

      assertEquals((await app.post(url, { name: "n", owner: "me" })).status, 403);
      assertEquals((await app.patch(`${url}/${doc?._id}`, { name: "x" })).status, 403);
      assertEquals(await stored(model), [doc as Fields]);
    });
  }
});

test("preSave brings an entity into the scope when the client may not", async () => {
  const preSave = (_req: FrameworkRequest, entity: Entity<ScopedFields>) => {
    entity.owner = "me";
    return entity;
  };
  const model = scoped(() => ({ owner: "me" }), { preSave });
  await using app = await mount([model]);

  const { status, body } = await app.post<Fields>("/items", { owner: "them" });

  assertEquals([status, body.owner], [201, "me"]);
});

test("scope keeps two concurrent updates from leaving it one by one", async () => {
  const model = scoped(() => ({ owner: "me" }), { preSave: gate(2) });
  await using app = await mount([model]);
  const [id] = await store(model, { name: "m", owner: "me", rank: 0 });

  const replies = await Promise.all([
    app.patch<Fields>(`/items/${id}`, { owner: "them" }),
    app.patch<Fields>(`/items/${id}`, { rank: 1 }),
  ]);

  assertEquals(replies.map(({ status }) => status), [403, 200]);
  assertEquals((await stored(model)).map(({ owner, rank }) => [owner, rank]), [["me", 1]]);
});
