import { assert, assertEquals, assertNotMatch, assertStrictEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  type Entity,
  type FrameworkRequest,
  getModel,
  type HookName,
  type HooksOf,
  type ModelClass,
  type OperationName,
  RestError,
} from "../mod.ts";
import { request } from "./harness/request.ts";
import { test } from "./harness/testing.ts";
import { callsFor, everywhere, hooked, type HooksByOperation, type Item } from "./hooked.ts";
import { asQuery, mount } from "./support.ts";

type ItemRequest = FrameworkRequest<Item>;
type ItemEntity = Entity<Item>;

/** Stores items with these names. */
async function store(model: ModelClass<Item>, ...names: string[]): Promise<string[]> {
  const docs = await getModel(model).create(names.map((name) => ({ name })));
  return docs.map(({ _id }) => String(_id));
}

async function namesIn(model: ModelClass<Item>): Promise<string[]> {
  const docs = await getModel(model).find().sort({ name: 1 }).lean();
  return docs.map(({ name }) => String(name));
}

/** Notes each call of a hook as its name and the names of the entities that it got. */
function recording(calls: string[]): HooksOf<Item> {
  const nameOf = (entity?: ItemEntity) => entity?.name ?? "new";
  const note = (hook: HookName) => (_req: ItemRequest, ...entities: (ItemEntity | undefined)[]) => {
    calls.push([hook, ...entities.map(nameOf)].join(" "));
    return entities[0] as ItemEntity;
  };
  return {
    preFetch: (req) => note("preFetch")(req) === undefined,
    fetch: async (req) => {
      note("fetch")(req);
      const model = await req.framework.model();
      if (req.framework.operation === "create") return new model();
      return req.params.id ? model.findById(req.params.id) : model.find();
    },
    postFetch: note("postFetch"),
    preSave: note("preSave"),
    persist: async (req, entity, ...previous) => {
      note("persist")(req, entity, ...previous);
      if (/create|update/.test(req.framework.operation)) await entity.save();
      else await entity.deleteOne();
      return entity;
    },
    preSend: note("preSend"),
  };
}

const ORDER: Record<OperationName, string[]> = {
  all: ["preFetch", "fetch", "postFetch a", "preSend a"],
  one: ["preFetch", "fetch", "postFetch a", "preSend a"],
  create: ["preFetch", "fetch", "postFetch new", "preSave b", "persist b", "preSend b"],
  update: ["preFetch", "fetch", "postFetch a", "preSave b a", "persist b a", "preSend b a"],
  remove: ["preFetch", "fetch", "postFetch a", "preSave a a", "persist a a"],
  removeAll: ["preFetch", "fetch", "postFetch a", "preSave a a", "persist a a"],
};

test("hooks run in their order, with the entity and the one before, when an operation runs", async (t) => {
  for (const [operation, method, path] of callsFor(":id")) {
    await t.step(operation, async () => {
      const calls: string[] = [];
      const model = hooked(everywhere(recording(calls)));
      await using app = await mount([model]);
      const [id] = await store(model, "a");
      const body = /POST|PATCH/.test(method) ? { name: "b" } : undefined;

      const { status } = await request(app.url + path.replace(":id", String(id)), { method, body });

      assert(status < 300, String(status));
      assertEquals(calls, ORDER[operation]);
    });
  }
});

test("preSave and persist get one document as entity and as previous when it is removed", async (t) => {
  for (const [operation, method, path] of callsFor(":id").slice(4)) {
    await t.step(operation, async () => {
      const pairs: unknown[][] = [];
      const keep = (_req: ItemRequest, entity: ItemEntity, previous?: ItemEntity) => {
        pairs.push([entity, previous]);
        return entity;
      };
      const model = hooked({ [operation]: { preSave: keep, persist: keep } });
      await using app = await mount([model]);
      const [id] = await store(model, "a");

      await request(app.url + path.replace(":id", String(id)), { method });

      assertEquals(pairs.length, 2);
      for (const [entity, previous] of pairs) assertStrictEquals(entity, previous);
    });
  }
});

test("preSave gets the entity before the merge, whole and unchanged, when it is updated", async () => {
  const seen: unknown[] = [];
  const preSave = (_req: ItemRequest, entity: ItemEntity, previous?: ItemEntity) => {
    seen.push([entity.name, entity.part?.label, entity.secret]);
    seen.push([previous?.name, previous?.part?.label, previous?.secret]);
    return entity;
  };
  const model = hooked({ update: { preSave } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", secret: "s", part: { label: "x" } });

  await request(`${app.url}/items/${doc._id}`, {
    method: "PATCH",
    body: { name: "b", part: { label: "y" } },
  });

  assertEquals(seen, [["b", "y", "s"], ["a", "x", "s"]]);
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
  return sent.filter((call) => !/createIndex|createCollection/.test(call));
}

test("preFetch runs before getConnection and any call of the database", async (t) => {
  for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
    await t.step(operation, async () => {
      const calls: string[] = [];
      const preFetch = async () => {
        calls.push("preFetch");
        await new Promise((resolve) => setTimeout(resolve, 20));
        calls.push("passed");
        return true;
      };
      const getConnection = () => {
        calls.push("getConnection");
        return mongoose.connection;
      };
      const model = hooked(everywhere({ preFetch }), { getConnection });
      await using app = await mount([model]);

      await request(app.url + path, { method, body: /P/.test(method) ? {} : undefined });

      assertEquals(calls, ["preFetch", "passed", "getConnection"]);
    });
  }
});

test("preFetch keeps the request from getConnection, scope and database when it refuses", async (t) => {
  const refusals: [string, () => boolean, number][] = [
    ["false", () => false, 403],
    ["throws", () => {
      throw new RestError(401, { code: "UNAUTHENTICATED" });
    }, 401],
  ];
  for (const [name, preFetch, expected] of refusals) {
    for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
      await t.step(`${operation} ${name}`, async () => {
        let asked = 0;
        const model = hooked(everywhere({ preFetch }), {
          getConnection: () => (asked++, mongoose.connection),
          scope: () => (asked++, {}),
        });
        await using app = await mount([model]);
        await store(model, "a");

        const sent = await spied(async () => {
          const body = /P/.test(method) ? {} : undefined;
          assertEquals((await request(`${app.url}${path}`, { method, body })).status, expected);
        });

        assertEquals([asked, sent], [0, []]);
        assertEquals(await namesIn(model), ["a"]);
      });
    }
  }
});

test("preFetch fails closed when it gives anything but true", async (t) => {
  const values = [undefined, null, false, 0, 1, "true", "", {}, [], [true], new Boolean(true), NaN];
  for (const value of [...values, () => true, Promise.resolve(1), Promise.resolve()]) {
    await t.step(String(value), async () => {
      const preFetch = (() => value) as unknown as () => boolean;
      const model = hooked(everywhere({ preFetch }));
      await using app = await mount([model]);
      const [id] = await store(model, "a");
      for (const [_operation, method, path] of callsFor(String(id))) {
        const reply = await request<{ code: string }>(`${app.url}${path}`, {
          method,
          body: /P/.test(method) ? { name: "b" } : undefined,
        });
        assertEquals([reply.status, reply.body.code], [403, "FORBIDDEN"]);
      }
      assertEquals(await namesIn(model), ["a"]);
    });
  }
});

test("preFetch has the say before what is wrong with q or the body", async () => {
  const preFetch = () => {
    throw new RestError(401, "Who are you?");
  };
  const model = hooked(everywhere({ preFetch }));
  await using app = await mount([model]);

  for (const [_operation, method, path] of callsFor("nobody")) {
    const { status } = await request(`${app.url}${path}?q=x`, { method });
    assertEquals(status, 401);
  }
});

/** What each operation answers when a hook gives null, and the names that are stored afterwards. */
const ON_NULL: [HookName, OperationName, status: number, stored: string][] = [
  ["postFetch", "all", 200, "a"],
  ["postFetch", "one", 404, "a"],
  ["postFetch", "create", 404, "a"],
  ["postFetch", "update", 404, "a"],
  ["postFetch", "remove", 404, "a"],
  ["postFetch", "removeAll", 204, "a"],
  ["preSave", "create", 403, "a"],
  ["preSave", "update", 403, "a"],
  ["preSave", "remove", 403, "a"],
  ["preSave", "removeAll", 403, "a"],
  ["preSend", "all", 200, "a"],
  ["preSend", "one", 404, "a"],
  ["preSend", "create", 204, "ab"],
  ["preSend", "update", 204, "b"],
  ["fetch", "all", 200, "a"],
  ["fetch", "one", 404, "a"],
  ["fetch", "create", 404, "a"],
  ["fetch", "update", 404, "a"],
  ["fetch", "remove", 404, "a"],
  ["fetch", "removeAll", 204, "a"],
];

test("hooks reject, each in its way, when they give null, undefined or false", async (t) => {
  for (const [hook, operation, expected, stored] of ON_NULL) {
    for (const value of [null, undefined, false, Promise.resolve(null)]) {
      await t.step(`${hook} of ${operation} gives ${value}`, async () => {
        const model = hooked({ [operation]: { [hook]: () => value } } as HooksByOperation);
        await using app = await mount([model]);
        const [id] = await store(model, "a");
        const [, method = "", path = ""] = callsFor(String(id)).find(([name]) =>
          name === operation
        ) ?? [];

        const reply = await request(`${app.url}${path}`, {
          method,
          body: /P/.test(method) ? { name: "b" } : undefined,
        });

        assertEquals(reply.status, expected);
        if (operation === "all") assertEquals(reply.body, []);
        if (expected === 403) assertEquals((reply.body as { code: string }).code, "FORBIDDEN");
        assertEquals((await namesIn(model)).join(""), stored);
      });
    }
  }
});

test("hooks stop the operation, and nothing is written, when they throw", async (t) => {
  const hooks: HookName[] = ["fetch", "postFetch", "preSave", "persist"];
  const error = () => Promise.reject(new RestError(418, { code: "TEAPOT" }));
  for (const hook of hooks) {
    await t.step(hook, async () => {
      const model = hooked(everywhere({ [hook]: error }));
      await using app = await mount([model]);
      const [id] = await store(model, "a", "c");
      const reads = hook === "fetch" || hook === "postFetch";
      for (const [_operation, method, path] of callsFor(String(id)).slice(reads ? 0 : 2)) {
        const body = /P/.test(method) ? { name: "b" } : undefined;
        const reply = await request(`${app.url}${path}`, { method, body });
        assertEquals([reply.status, reply.body], [418, { code: "TEAPOT" }]);
      }
      assertEquals(await namesIn(model), ["a", "c"]);
    });
  }
});

test("removeAll() removes nothing when one entity of many is refused", async (t) => {
  const refusals: [string, () => null][] = [
    ["null", () => null],
    ["throws", () => {
      throw new RestError(403, "No");
    }],
  ];
  for (const [name, refuse] of refusals) {
    await t.step(name, async () => {
      const names = Array.from({ length: 60 }, (_, index) => `n${index}`);
      const preSave = (_req: ItemRequest, entity: ItemEntity) =>
        entity.name === "n55" ? refuse() : entity;
      const model = hooked({ removeAll: { preSave } });
      await using app = await mount([model]);
      await store(model, ...names);

      const { status } = await request(`${app.url}/items`, { method: "DELETE" });

      assertEquals(status, 403);
      assertEquals((await namesIn(model)).length, 60);
    });
  }
});

test("removeAll() leaves what postFetch drops, and removes the rest", async () => {
  const postFetch = (_req: ItemRequest, entity: ItemEntity) => entity.name === "a" ? null : entity;
  const model = hooked({ removeAll: { postFetch } });
  await using app = await mount([model]);
  await store(model, "a", "b", "c");

  const { status } = await request(`${app.url}/items${asQuery({ name: { $ne: "c" } })}`, {
    method: "DELETE",
  });

  assertEquals(status, 204);
  assertEquals(await namesIn(model), ["a", "c"]);
});

test("preSend replaces the entity in the answer when it gives a reduced object", async (t) => {
  const preSend = (_req: ItemRequest, { _id, name }: ItemEntity) => ({ _id, name });
  for (const [operation, method, path] of callsFor(":id").slice(0, 4)) {
    await t.step(operation, async () => {
      const model = hooked({ [operation]: { preSend } });
      await using app = await mount([model]);
      const doc = await getModel(model).create({ name: "a", owner: "o", rank: 1 });

      const { body } = await request<object>(app.url + path.replace(":id", String(doc._id)), {
        method,
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

  const { body } = await request(`${app.url}/items`);

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
        const { text, status } = await request(`${app.url}${path}`, { method, body });
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
    const { text, status } = await request(`${app.url}${path}`, { method, body });
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

  await request(`${app.url}/items/${doc._id}`);

  assertEquals(seen, [["s", "t"], ["s", "t"]]);
});

test("req.framework holds filter, options, projection, operation and model", async (t) => {
  for (const [operation, method, path] of callsFor("507f1f77bcf86cd799439011")) {
    await t.step(operation, async () => {
      const seen: unknown[] = [];
      const preFetch = async (req: ItemRequest) => {
        const { filter, options, projection, operation, model } = req.framework;
        const found = await model();
        seen.push(structuredClone(filter), options, projection, operation);
        seen.push(found === getModel(hookedModel));
        return true;
      };
      const hookedModel = hooked(everywhere({ preFetch }));
      await using app = await mount([hookedModel]);

      const body = /P/.test(method) ? {} : undefined;
      await request(app.url + path, { method, body });
      await request(app.url + path + asQuery({ rank: "5" }), { method, body });

      const filter = operation === "create" ? {} : { rank: { $eq: 5 } };
      assertEquals(seen, [{}, {}, {}, operation, true, filter, {}, {}, operation, true]);
    });
  }
});

/** The ways in which a hook may narrow the filter. */
const NARROW: [string, (req: ItemRequest) => void][] = [
  ["sets a key", (req) => req.framework.filter.owner = "me"],
  ["replaces the filter", (req) => {
    req.framework.filter = { $and: [req.framework.filter, { owner: "me" }] };
  }],
  ["spreads the filter", (req) => {
    req.framework.filter = { ...req.framework.filter, owner: "me" };
  }],
  ["replaces the state", (req) => {
    req.framework = { ...req.framework, filter: { owner: "me" } };
  }],
];

test("preFetch binds what is fetched when it narrows the filter", async (t) => {
  for (const [name, narrow] of NARROW) {
    await t.step(name, async () => {
      const preFetch = (req: ItemRequest) => {
        narrow(req);
        return true;
      };
      const model = hooked(everywhere({ preFetch }));
      await using app = await mount([model]);
      const docs = [{ name: "mine", owner: "me" }, { name: "theirs", owner: "them" }];
      const [, theirs] = await getModel(model).create(docs);
      const query = asQuery({ owner: "them" });

      for (const suffix of ["", query, asQuery({ $or: [{ owner: "them" }, { owner: "me" }] })]) {
        const list = await request<{ name: string }[]>(`${app.url}/items${suffix}`);
        assertEquals(list.body.filter((item) => item.name === "theirs"), []);
        for (const method of ["GET", "PATCH", "DELETE"]) {
          const body = method === "PATCH" ? { name: "x" } : undefined;
          const url = `${app.url}/items/${theirs?._id}${suffix}`;
          assertEquals((await request(url, { method, body })).status, 404);
        }
      }
      await request(`${app.url}/items`, { method: "DELETE" });
      assertEquals(await namesIn(model), ["theirs"]);
    });
  }
});

test("preFetch sets the filter, and Mongoose casts what it sets", async () => {
  const preFetch = (req: ItemRequest) => {
    req.framework.filter.rank = "5";
    req.framework.filter._id = { $in: [String(req.query.id)] };
    return true;
  };
  const model = hooked({ all: { preFetch } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", rank: 5 });

  const { body } = await request<unknown[]>(`${app.url}/items?id=${doc._id}`);

  assertEquals(body.length, 1);
});

test("preFetch pages a list as in the reference when it sets skip and limit", async () => {
  const preFetch = (req: ItemRequest) => {
    const page = Number(req.query.page);
    req.framework.options.skip = page * 20;
    req.framework.options.limit = 20;
    return true;
  };
  const model = hooked({ all: { preFetch } });
  await using app = await mount([model]);
  await store(model, ...Array.from({ length: 45 }, (_, index) => `n${index}`));

  const pages = [];
  for (const query of ["?page=0", "?page=1", "?page=2", "?page=3", ""]) {
    pages.push((await request<{ _id: string }[]>(`${app.url}/items${query}`)).body);
  }

  assertEquals(pages.map((page) => page.length), [20, 20, 5, 0, 20]);
  assertEquals(new Set(pages.slice(0, 3).flat().map(({ _id }) => _id)).size, 45);
});

test("preFetch reduces what is read when it sets a projection", async () => {
  const preFetch = (req: ItemRequest) => {
    req.framework.projection = { name: 1 };
    return true;
  };
  const model = hooked({ all: { preFetch }, update: { preFetch } });
  await using app = await mount([model]);
  const doc = await getModel(model).create({ name: "a", owner: "o", rank: 3 });

  const list = await request<object[]>(`${app.url}/items`);
  const patch = await request<object>(`${app.url}/items/${doc._id}`, {
    method: "PATCH",
    body: { name: "b" },
  });

  assertEquals(Object.keys(list.body[0] as object).includes("owner"), false);
  assertEquals(Object.keys(patch.body).includes("owner"), false);
  assertEquals((await getModel(model).findById(doc._id))?.owner, "o");
});

test("hooks reach the response as req.res", async () => {
  const preFetch = (req: ItemRequest) => {
    req.res?.setHeader("X-Hook", "here");
    return true;
  };
  const model = hooked({ all: { preFetch } });
  await using app = await mount([model]);

  const { headers } = await request(`${app.url}/items`);

  assertEquals(headers.get("x-hook"), "here");
});

test("hooks of a list run concurrently, and the order is kept", async (t) => {
  for (const hook of ["postFetch", "preSend"] as const) {
    await t.step(hook, async () => {
      let running = 0;
      let most = 0;
      const wait = async (_req: ItemRequest, entity: ItemEntity) => {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
        running--;
        return entity.rank === 70 ? null : entity;
      };
      const model = hooked({ all: { [hook]: wait } });
      await using app = await mount([model]);
      const ranks = Array.from({ length: 100 }, (_, rank) => ({ rank }));
      await getModel(model).create(ranks);

      const { body } = await request<{ rank: number }[]>(`${app.url}/items`);

      const expected = ranks.map(({ rank }) => rank).filter((rank) => rank !== 70);
      assertEquals(body.map(({ rank }) => rank).sort((a, b) => a - b), expected);
      const stored = await getModel(model).find().lean();
      const order = stored.map(({ rank }) => rank as number).filter((rank) => rank !== 70);
      assertEquals(body.map(({ rank }) => rank), order);
      assert(most > 1, "one at a time");
    });
  }
});

test("all() answers with a hook's error when it comes at the end of a long list", async () => {
  const preSend = (_req: ItemRequest, entity: ItemEntity) => {
    if (entity.rank === 399) throw new RestError(403, "Not this one");
    return entity;
  };
  const model = hooked({ all: { preSend } });
  await using app = await mount([model]);
  const name = "n".repeat(1000);
  await getModel(model).insertMany(Array.from({ length: 400 }, (_, rank) => ({ name, rank })));

  const reply = await request(`${app.url}/items`);

  assertEquals(reply.status, 403);
  assertEquals(reply.body, { code: "FORBIDDEN", message: "Not this one" });
});

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

      const { status, body } = await request<{ name: string }[]>(`${app.url}/items`);

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

  const patch = await request(`${app.url}/items/x%20y`, { method: "PATCH", body: { name: "b" } });
  const read = await request(`${app.url}/items/x%20y`);
  const gone = await request(`${app.url}/items/z`);

  assertEquals(patch.body, { _id: "x y", name: "b" });
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
    assertEquals((await request(`${app.url}${path}`, { method, body })).status, 500);
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
      await request<{ name: string } | undefined>(`${app.url}${path}`, { method, body }),
    );
  }

  assertEquals(replies.map(({ status }) => status), [201, 200, 204, 204]);
  assertEquals(replies.map(({ body }) => body?.name), ["kept", "kept", undefined, undefined]);
  assertEquals(await namesIn(model), ["a"]);
});
