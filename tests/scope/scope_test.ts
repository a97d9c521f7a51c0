import { assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  prop,
  type QueryObject,
  rest,
} from "../../mod.ts";
import { SIX } from "../fixtures/operations.ts";
import { test } from "../harness/testing.ts";
import { hooked, type HooksByOperation, type Item } from "../support/hooked.ts";
import { asQuery, mount } from "../support/support.ts";
import { type Fields, namesIn, type Scope, scoped, store } from "../fixtures/scoped.ts";

const OWN: [string, Scope][] = [
  ["an object", () => ({ owner: "me" })],
  ["a promise", () => Promise.resolve({ owner: "me" })],
  ["of the request", (req) => ({ owner: req.headers["x-user"] ?? "me" })],
  ["a slow promise", async () => {
    await new Promise((resolve) => setTimeout(resolve, 20));
    return { owner: "me" };
  }],
  ["an operator", () => ({ owner: { $in: ["me"] } })],
];

test("scope binds all six operations", async (t) => {
  for (const [name, scope] of OWN) {
    await t.step(name, async () => {
      const model = scoped(scope);
      await using app = await mount([model]);
      const url = "/items";
      const docs = [{ name: "m", owner: "me" }, { name: "t", owner: "them" }];
      const [mine, theirs] = await store(model, ...docs);

      const list = await app.get<Fields[]>(url);
      assertEquals(list.body.map((item) => item.name), ["m"]);
      assertEquals((await app.get(`${url}/${mine}`)).status, 200);
      assertEquals((await app.get(`${url}/${theirs}`)).status, 404);
      assertEquals((await app.post(url, { name: "n", owner: "me" })).status, 201);
      assertEquals((await app.post(url, { name: "o", owner: "them" })).status, 403);
      assertEquals((await app.post(url, { name: "o" })).status, 403);
      assertEquals((await app.patch(`${url}/${mine}`, { name: "M" })).status, 200);
      assertEquals((await app.patch(`${url}/${mine}`, { owner: "them" })).status, 403);
      assertEquals((await app.patch(`${url}/${mine}`, { owner: null })).status, 403);
      assertEquals((await app.patch(`${url}/${theirs}`, { name: "T" })).status, 404);
      assertEquals((await app.patch(`${url}/${theirs}`, { owner: "me" })).status, 404);
      assertEquals((await app.delete(`${url}/${theirs}`)).status, 404);
      assertEquals(await namesIn(model), "Mnt");
      assertEquals((await app.delete(`${url}/${mine}`)).status, 204);
      assertEquals((await app.delete(url)).status, 204);
      assertEquals(await namesIn(model), "t");
    });
  }
});

test("scope is not widened when q asks for more", async (t) => {
  const model = scoped(() => ({ owner: "me" }));
  await using app = await mount([model]);
  const [, theirs] = await store(model, { name: "m", owner: "me" }, { name: "t", owner: "them" });
  const filters = [
    { owner: "them" },
    { owner: { $ne: "me" } },
    { owner: { $exists: true } },
    { $or: [{ owner: "them" }, { owner: "me" }] },
    { $nor: [{ owner: "me" }] },
    { $and: [{ owner: "them" }] },
    { _id: theirs },
  ];
  for (const filter of filters) {
    await t.step(JSON.stringify(filter), async () => {
      const query = asQuery(filter);
      const list = await app.get<Fields[]>(`/items${query}`);
      assertEquals(list.body.filter((item) => item.name === "t"), []);
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { name: "x" } : undefined;
        const { status } = await app.send(method, `/items/${theirs}${query}`, {
          body: body,
        });
        assertEquals([method, status], [method, 404]);
      }
    });
  }
  await app.delete(`/items${asQuery({ $or: [{}, { owner: "them" }] })}`);
  assertEquals(await namesIn(model), "t");
});

test("scope and q both bind when they have a key in common", async (t) => {
  const pairs: [scope: QueryObject, q: QueryObject][] = [
    [{ owner: "me" }, { owner: { $ne: "them" }, rank: 1 }],
    [{ $and: [{ owner: "me" }] }, { $and: [{ rank: 1 }] }],
    [{ $or: [{ owner: "me" }] }, { $or: [{ rank: 1 }] }],
    [{ $nor: [{ owner: "them" }] }, { $nor: [{ rank: 2 }] }],
    [{ owner: "me", rank: { $gt: 0 } }, { rank: { $lt: 2 } }],
  ];
  for (const [scope, q] of pairs) {
    await t.step(`${JSON.stringify(scope)} ${JSON.stringify(q)}`, async () => {
      const model = scoped(() => scope);
      await using app = await mount([model]);
      const [, other] = await store(
        model,
        { name: "a", owner: "me", rank: 1 },
        { name: "b", owner: "me", rank: 2 },
        { name: "c", owner: "them", rank: 1 },
      );
      const query = asQuery(q);

      const list = await app.get<Fields[]>(`/items${query}`);
      assertEquals(list.body.map(({ name }) => name), ["a"]);
      assertEquals((await app.delete(`/items/${other}${query}`)).status, 404);
      await app.delete(`/items${query}`);
      assertEquals(await namesIn(model), "bc");
    });
  }
});

@rest({
  route: "/mine",
  methods: SIX,
  scope: () => ({ owner: "me" }),
  schemaOptions: { collection: "scoped_twice" },
})
@rest({
  route: "/theirs",
  methods: SIX,
  scope: () => ({ owner: "them" }),
})
@rest({ route: "/everyone", methods: [all()] })
class Twice extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  owner?: string;
}

test("scope binds the route of its own @rest when a class has several", async () => {
  await using app = await mount([Twice]);
  const [mine] = await store(Twice, { name: "m", owner: "me" }, { name: "t", owner: "them" });
  const listed = async (route: string) =>
    (await app.get<Fields[]>(`${route}`)).body.map(({ name }) => name).sort().join("");

  assertEquals([await listed("/mine"), await listed("/theirs")], ["m", "t"]);
  assertEquals(await listed("/everyone"), "mt");
  assertEquals((await app.patch(`/theirs/${mine}`, { name: "x" })).status, 404);
  assertEquals((await app.post("/theirs", { owner: "me" })).status, 403);
  assertEquals((await app.post("/mine", { owner: "me", name: "n" })).status, 201);
  await app.delete("/theirs");
  assertEquals(await listed("/everyone"), "mn");
});

test("q and filter select, and do not bind what is written", async () => {
  const preFetch = (req: FrameworkRequest<Item>) => {
    req.framework.filter.rank = 1;
    return true;
  };
  const model = hooked({ update: { preFetch } } satisfies HooksByOperation);
  await using app = await mount([model]);
  const [id] = await store(model, { owner: "me", rank: 1 });

  const { status, body } = await app.patch<Fields>(`/items/${id}${asQuery({ owner: "me" })}`, {
    owner: "them",
    rank: 2,
  });

  assertEquals([status, body.owner, body.rank], [200, "them", 2]);
});

/** Settings of the host that drop or rewrite conditions in Mongoose. */
const SETTINGS: ["strictQuery" | "sanitizeFilter", boolean | "throw"][] = [
  ["strictQuery", true],
  ["strictQuery", "throw"],
  ["sanitizeFilter", true],
];

/** Lets a scope name what is not declared, such as `tenant`. */
function takeAny(schema: mongoose.Schema): mongoose.Schema {
  return schema.set("strict", false);
}

test("scope and q bind whatever the host has set in Mongoose", async (t) => {
  for (const [setting, value] of SETTINGS) {
    await t.step(`${setting} ${value}`, async () => {
      mongoose.set(setting, value as never);
      try {
        const model = scoped(() => ({ tenant: "t", rank: { $gt: 0 } }), {
          configure: (schema) => void takeAny(schema).set("strictQuery", value as never),
        });
        await using app = await mount([model]);
        const { insertedIds: ids } = await getModel(model).collection.insertMany([
          { name: "in", tenant: "t", rank: 1 },
          { name: "out", tenant: "u", rank: 1 },
        ]);
        const query = asQuery({ rank: { $lt: 9 } });

        const list = await app.get<Fields[]>(`/items${query}`);
        assertEquals(list.body.map(({ name }) => name), ["in"], list.text);
        assertEquals((await app.patch(`/items/${ids[1]}`, { rank: 2 })).status, 404);
        assertEquals((await app.delete(`/items/${ids[1]}`)).status, 404);
        assertEquals((await app.delete(`/items/${ids[0]}`)).status, 204);
        assertEquals((await app.delete(`/items${query}`)).status, 204);
        assertEquals(await namesIn(model), "out");
      } finally {
        mongoose.set(setting, (setting === "strictQuery" ? false : undefined) as never);
      }
    });
  }
});
