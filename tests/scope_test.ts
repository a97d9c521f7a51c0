import { assert, assertEquals } from "@std/assert";
import mongoose, { type Schema } from "mongoose";
import {
  all,
  arrayProp,
  create,
  type Entity,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  type HooksOf,
  type ModelClass,
  one,
  prop,
  type QueryObject,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { callsFor, hooked, type HooksByOperation, type Item } from "./hooked.ts";
import { asQuery, mount } from "./support.ts";

type Scope = (req: FrameworkRequest) => QueryObject | Promise<QueryObject>;

class ScopedPart extends FrameworkModel {
  @prop()
  label?: string;
  @prop({ type: Number })
  size?: number;
}

class ScopedFields extends FrameworkModel {
  @prop()
  name?: string;
  @prop()
  owner?: string;
  @prop({ type: Number })
  rank?: number;
  @prop({ type: Date })
  day?: Date;
  @prop({ type: BigInt })
  big?: bigint;
  @prop({ type: mongoose.Types.ObjectId })
  team?: string;
  @prop({ hidden: true })
  secret?: string;
  @prop({ select: false })
  unread?: string;
  @arrayProp({ items: String })
  tags?: string[];
  @prop({ type: ScopedPart })
  part?: ScopedPart;
  @arrayProp({ items: ScopedPart, embedded: true })
  parts?: ScopedPart[];
  @prop({ type: Map, of: String })
  map?: Map<string, string>;
  @prop({ type: Object })
  free?: object;
}

/** Makes a model of its own whose only `@rest` has a scope. */
function scoped(
  scope: Scope,
  hooks: HooksOf<ScopedFields> = {},
  configure?: (schema: Schema) => void,
): ModelClass<ScopedFields> {
  const collection = `scoped_${crypto.randomUUID().slice(0, 8)}`;
  @rest({
    route: "/items",
    methods: [
      all<ScopedFields>(),
      one<ScopedFields>(),
      create<ScopedFields>(hooks),
      update<ScopedFields>(hooks),
      remove<ScopedFields>(hooks),
      removeAll<ScopedFields>(hooks),
    ],
    scope,
    schemaOptions: { collection, autoCreate: false, autoIndex: false },
  })
  class Scoped extends ScopedFields {
    static override configure = configure ?? (() => {});
  }
  return Scoped;
}

type Fields = Record<string, unknown>;

async function store(model: ModelClass, ...docs: Fields[]): Promise<string[]> {
  const stored = await getModel(model).create(docs as never) as unknown as { _id: unknown }[];
  return stored.map(({ _id }) => String(_id));
}

async function stored(model: ModelClass): Promise<Fields[]> {
  return await getModel(model).collection.find().sort({ _id: 1 }).toArray();
}

async function namesIn(model: ModelClass): Promise<string> {
  return (await stored(model)).map(({ name }) => name).sort().join("");
}

function send(url: string, method: string, body?: unknown) {
  return request<Fields>(url, { method, body });
}

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
      const url = `${app.url}/items`;
      const [mine, theirs] = await store(model, { name: "m", owner: "me" }, {
        name: "t",
        owner: "them",
      });

      const list = await request<Fields[]>(url);
      assertEquals(list.body.map((item) => item.name), ["m"]);
      assertEquals((await send(`${url}/${mine}`, "GET")).status, 200);
      assertEquals((await send(`${url}/${theirs}`, "GET")).status, 404);
      assertEquals((await send(url, "POST", { name: "n", owner: "me" })).status, 201);
      assertEquals((await send(url, "POST", { name: "o", owner: "them" })).status, 403);
      assertEquals((await send(url, "POST", { name: "o" })).status, 403);
      assertEquals((await send(`${url}/${mine}`, "PATCH", { name: "M" })).status, 200);
      assertEquals((await send(`${url}/${mine}`, "PATCH", { owner: "them" })).status, 403);
      assertEquals((await send(`${url}/${mine}`, "PATCH", { owner: null })).status, 403);
      assertEquals((await send(`${url}/${theirs}`, "PATCH", { name: "T" })).status, 404);
      assertEquals((await send(`${url}/${theirs}`, "PATCH", { owner: "me" })).status, 404);
      assertEquals((await send(`${url}/${theirs}`, "DELETE")).status, 404);
      assertEquals(await namesIn(model), "Mnt");
      assertEquals((await send(`${url}/${mine}`, "DELETE")).status, 204);
      assertEquals((await send(url, "DELETE")).status, 204);
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
      const list = await request<Fields[]>(`${app.url}/items${query}`);
      assertEquals(list.body.filter((item) => item.name === "t"), []);
      for (const method of ["GET", "PATCH", "DELETE"]) {
        const body = method === "PATCH" ? { name: "x" } : undefined;
        const { status } = await send(`${app.url}/items/${theirs}${query}`, method, body);
        assertEquals([method, status], [method, 404]);
      }
    });
  }
  await send(`${app.url}/items${asQuery({ $or: [{}, { owner: "them" }] })}`, "DELETE");
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

      const list = await request<Fields[]>(`${app.url}/items${query}`);
      assertEquals(list.body.map(({ name }) => name), ["a"]);
      assertEquals((await send(`${app.url}/items/${other}${query}`, "DELETE")).status, 404);
      await send(`${app.url}/items${query}`, "DELETE");
      assertEquals(await namesIn(model), "bc");
    });
  }
});

/** Runs work, and gives the calls that the default connection has sent to the database meanwhile. */
async function spied(work: () => Promise<unknown>): Promise<string[]> {
  const sent: string[] = [];
  mongoose.set("debug", (collection, method) => void sent.push(`${collection}.${method}`));
  try {
    await work();
  } finally {
    mongoose.set("debug", false);
  }
  return sent;
}

/** What is no filter, or would lose a condition in Mongoose. */
const BROKEN: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["true", true],
  ["text", "owner"],
  ["a number", 5],
  ["a list", [{ owner: "me" }]],
  ["an empty list", []],
  ["a date", new Date()],
  ["a map", new Map([["owner", "me"]])],
  ["an identifier", new mongoose.Types.ObjectId()],
  ["a function", () => ({ owner: "me" })],
  ["a promise of undefined", Promise.resolve(undefined)],
  ["a promise of null", Promise.resolve(null)],
  ["an undefined condition", { owner: undefined }],
  ["an undefined condition beside another", { rank: 1, owner: undefined }],
  ["an undefined operand", { owner: { $eq: undefined } }],
  ["an undefined element", { owner: { $in: ["me", undefined] } }],
  ["a hole in a list", { owner: { $in: new Array(1) } }],
  ["an undefined clause", { $or: [{ owner: "me" }, undefined] }],
  ["an undefined condition deep inside", { $and: [{ $or: [{ a: { b: { c: undefined } } }] }] }],
];

/** Calls all six operations, and checks that each one answers 500, tells nothing, and sends nothing. */
async function brokenEverywhere(model: ModelClass): Promise<void> {
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => {
    errors.push(error);
    return new RestError(500, { code: "INTERNAL" });
  };
  await using app = await mount([model], { onError });
  const [id] = await store(model, { name: "m", owner: "me" });
  for (const [operation, method, path] of callsFor(String(id))) {
    const body = /P/.test(method) ? { name: "x", owner: "me" } : undefined;
    const sent = await spied(async () => {
      const reply = await send(`${app.url}${path}`, method, body);
      assertEquals([operation, reply.status, reply.body], [operation, 500, { code: "INTERNAL" }]);
    });
    assertEquals(sent, []);
  }
  assert(errors.every((error) => error instanceof TypeError) && errors.length === 6);
  assertEquals(await namesIn(model), "m");
}

test("scope answers 500 and touches nothing when it is no filter", async (t) => {
  for (const [name, value] of BROKEN) {
    await t.step(name, () => brokenEverywhere(scoped((() => value) as Scope)));
  }
});

test("filter answers 500 and touches nothing when a hook makes it no filter", async (t) => {
  for (const [name, value] of BROKEN.filter(([, value]) => !(value instanceof Promise))) {
    await t.step(name, async () => {
      const preFetch = (req: FrameworkRequest<Item>) => {
        req.framework.filter = value as QueryObject;
        return true;
      };
      const hooks = { preFetch };
      await brokenEverywhere(
        hooked({
          all: hooks,
          one: hooks,
          create: hooks,
          update: hooks,
          remove: hooks,
          removeAll: hooks,
        }),
      );
    });
  }
});

test("scope answers with its own error when it throws", async (t) => {
  const failing: [string, Scope, number][] = [
    ["a RestError", () => Promise.reject(new RestError(401, "Who are you?")), 401],
    ["a bug", () => {
      throw new TypeError("bug");
    }, 500],
  ];
  for (const [name, scope, expected] of failing) {
    await t.step(name, async () => {
      const model = scoped(scope);
      await using app = await mount([model], { onError: () => new RestError(500, "hushed") });
      const [id] = await store(model, { name: "m" });
      for (const [_operation, method, path] of callsFor(String(id))) {
        const body = /P/.test(method) ? { name: "x" } : undefined;
        assertEquals((await send(`${app.url}${path}`, method, body)).status, expected);
      }
      assertEquals(await namesIn(model), "m");
    });
  }
});

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
  for (const [name, scope, inside, outside] of JUDGED) {
    await t.step(name, async () => {
      const model = scoped(() => scope);
      await using app = await mount([model]);
      const url = `${app.url}/items`;

      const made = await send(url, "POST", inside);
      assertEquals([made.status, (await stored(model)).length], [201, 1], made.text);
      const refused = await request<{ code: string }>(url, { method: "POST", body: outside });
      assertEquals([refused.status, refused.body.code], [403, "FORBIDDEN"]);
      assertEquals((await stored(model)).length, 1);

      const before = await stored(model);
      const left = await send(`${url}/${before[0]?._id}`, "PATCH", outside);
      assertEquals(left.status, 403, left.text);
      assertEquals(await stored(model), before);
      const kept = await send(`${url}/${before[0]?._id}`, "PATCH", inside);
      assertEquals(kept.status, 200, kept.text);
      assertEquals((await send(`${url}/${before[0]?._id}`, "DELETE")).status, 204);
      assertEquals(await stored(model), []);
    });
  }
});

test("scope is not changed by Mongoose when it holds what is to be cast", async () => {
  const scope = { rank: { $in: ["1", "2"] }, $or: [{ day: "2020-01-01" }, { team: TEAM }] };
  const before = structuredClone(scope);
  const model = scoped(() => scope);
  await using app = await mount([model]);

  await send(`${app.url}/items`, "POST", { rank: 1, team: TEAM });
  const [doc] = await stored(model);
  await send(`${app.url}/items/${doc?._id}`, "PATCH", { rank: 2 });
  await send(`${app.url}/items`, "GET");
  await send(`${app.url}/items`, "DELETE");

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
      const url = `${app.url}/items`;
      const [mine = "", theirs] = await store(model, { name: "m" }, { name: "t" });
      allowed = mine;

      assertEquals((await request<Fields[]>(url)).body.length, 1);
      assertEquals((await send(`${url}/${theirs}`, "PATCH", { name: "x" })).status, 404);
      assertEquals((await send(`${url}/${mine}`, "PATCH", { name: "M" })).status, 200);
      assertEquals((await send(url, "POST", { name: "x" })).status, 403);
      assertEquals(await namesIn(model), "Mt");
      assertEquals((await send(`${url}/${theirs}`, "DELETE")).status, 404);
      assertEquals((await send(url, "DELETE")).status, 204);
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
      const { status } = await send(`${app.url}/items/${ids[1]}`, method, body);

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
      const { status } = await send(`${app.url}/items/${given}`, method, body);

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
        const reply = await send(`${app.url}/items/${id}`, method, body);

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

  const { status } = await send(`${app.url}/items`, "DELETE");

  assertEquals(status, 204);
  assertEquals(await namesIn(model), "b");
});

test("scope judges what hooks and middleware have made of the entity", async (t) => {
  const leave = (entity: Entity<ScopedFields>) => {
    entity.owner = "them";
    return entity;
  };
  const ways: [string, ModelClass][] = [
    ["preSave", scoped(() => ({ owner: "me" }), { preSave: (_req, entity) => leave(entity) })],
    [
      "middleware",
      scoped(() => ({ owner: "me" }), {}, (schema) => {
        schema.pre("save", function () {
          this.set("owner", "them");
        });
      }),
    ],
  ];
  for (const [name, model] of ways) {
    await t.step(name, async () => {
      await using app = await mount([model]);
      const url = `${app.url}/items`;
      await getModel(model).collection.insertOne({ name: "m", owner: "me", __v: 0 });
      const [doc] = await stored(model);

      assertEquals((await send(url, "POST", { name: "n", owner: "me" })).status, 403);
      assertEquals((await send(`${url}/${doc?._id}`, "PATCH", { name: "x" })).status, 403);
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

  const { status, body } = await send(`${app.url}/items`, "POST", { owner: "them" });

  assertEquals([status, body.owner], [201, "me"]);
});

@rest({
  route: "/mine",
  methods: [all(), one(), create(), update(), remove(), removeAll()],
  scope: () => ({ owner: "me" }),
  schemaOptions: { collection: "scoped_twice" },
})
@rest({
  route: "/theirs",
  methods: [all(), one(), create(), update(), remove(), removeAll()],
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
    (await request<Fields[]>(`${app.url}${route}`)).body.map(({ name }) => name).sort().join("");

  assertEquals([await listed("/mine"), await listed("/theirs")], ["m", "t"]);
  assertEquals(await listed("/everyone"), "mt");
  assertEquals((await send(`${app.url}/theirs/${mine}`, "PATCH", { name: "x" })).status, 404);
  assertEquals((await send(`${app.url}/theirs`, "POST", { owner: "me" })).status, 403);
  assertEquals((await send(`${app.url}/mine`, "POST", { owner: "me", name: "n" })).status, 201);
  await send(`${app.url}/theirs`, "DELETE");
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

  const { status, body } = await send(
    `${app.url}/items/${id}${asQuery({ owner: "me" })}`,
    "PATCH",
    { owner: "them", rank: 2 },
  );

  assertEquals([status, body.owner, body.rank], [200, "them", 2]);
});

/** Settings of the host that drop or rewrite conditions in Mongoose. */
const SETTINGS: ["strictQuery" | "sanitizeFilter", boolean | "throw"][] = [
  ["strictQuery", true],
  ["strictQuery", "throw"],
  ["sanitizeFilter", true],
];

test("scope and q bind whatever the host has set in Mongoose", async (t) => {
  for (const [setting, value] of SETTINGS) {
    await t.step(`${setting} ${value}`, async () => {
      mongoose.set(setting, value as never);
      try {
        const model = scoped(() => ({ tenant: "t", rank: { $gt: 0 } }), {}, (schema) => {
          schema.set("strictQuery", value as never);
        });
        await using app = await mount([model]);
        const { insertedIds: ids } = await getModel(model).collection.insertMany([
          { name: "in", tenant: "t", rank: 1 },
          { name: "out", tenant: "u", rank: 1 },
        ]);
        const query = asQuery({ rank: { $lt: 9 } });

        const list = await request<Fields[]>(`${app.url}/items${query}`);
        assertEquals(list.body.map(({ name }) => name), ["in"], list.text);
        assertEquals((await send(`${app.url}/items/${ids[1]}`, "PATCH", { rank: 2 })).status, 404);
        assertEquals((await send(`${app.url}/items/${ids[1]}`, "DELETE")).status, 404);
        assertEquals((await send(`${app.url}/items/${ids[0]}`, "DELETE")).status, 204);
        assertEquals((await send(`${app.url}/items${query}`, "DELETE")).status, 204);
        assertEquals(await namesIn(model), "out");
      } finally {
        mongoose.set(setting, (setting === "strictQuery" ? false : undefined) as never);
      }
    });
  }
});

test("scope keeps two concurrent updates from leaving it one by one", async () => {
  const gate = Promise.withResolvers<void>();
  let waiting = 0;
  const preSave = async (_req: FrameworkRequest, entity: Entity<ScopedFields>) => {
    if (++waiting === 2) gate.resolve();
    await gate.promise;
    return entity;
  };
  const model = scoped(() => ({ owner: "me" }), { preSave });
  await using app = await mount([model]);
  const [id] = await store(model, { name: "m", owner: "me", rank: 0 });

  const replies = await Promise.all([
    send(`${app.url}/items/${id}`, "PATCH", { owner: "them" }),
    send(`${app.url}/items/${id}`, "PATCH", { rank: 1 }),
  ]);

  assertEquals(replies.map(({ status }) => status), [403, 200]);
  assertEquals((await stored(model)).map(({ owner, rank }) => [owner, rank]), [["me", 1]]);
});
