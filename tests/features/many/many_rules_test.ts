import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import mongoose from "mongoose";
import { all, create, Framework, FrameworkModel, getModel, one, prop, rest } from "../../../mod.ts";
import type { Ref } from "../../../mod.ts";
import { pass, watchCommands } from "../../support/both_paths.ts";
import { openDatabase } from "../../harness/database.ts";
import { test } from "../../harness/testing.ts";
import { failCommand, named, namesOf } from "./many.ts";
import {
  type EntityBody,
  type ErrorBody,
  mount,
  type Mounted,
  NOBODY,
} from "../../support/support.ts";
import { openReplicaSet } from "../../support/shared_replica_set.ts";

class Author extends FrameworkModel {
  @prop()
  name?: string;
}

class Movie extends FrameworkModel {
  @prop({ required: true })
  name!: string;
  @prop({ type: Number, default: 1 })
  rank!: number;
  @prop({ unique: true, sparse: true })
  slug?: string;
  @prop({ ref: Author, exists: true })
  author?: Ref<Author>;
  @prop({ hidden: true, default: "hidden" })
  secret?: string;
}

const MANY = { many: 5 };

@rest({ route: "/plain", methods: [all(), one(), create(MANY)] })
class Plain extends Movie {}

@rest({ route: "/hooked", methods: [all(), one(), create<Hooked>({ ...MANY, preSave: pass })] })
class Hooked extends Movie {}

@rest({ route: "/each", methods: [all(), create({ ...MANY, atomic: false })] })
class Each extends Movie {}

@rest({
  route: "/each-hooked",
  methods: [all(), create<EachHooked>({ ...MANY, atomic: false, preSave: pass })],
})
class EachHooked extends Movie {}

@rest({ route: "/single", methods: [all(), create()] })
class Single extends Movie {}

const MODELS = [Plain, Hooked, Each, EachHooked, Single];

const BOTH = ["/plain", "/hooked"] as const;

/** Serves all models of this file on a replica set, with their indexes. */
async function openApp(): Promise<Mounted> {
  const mongo = await openReplicaSet();
  const app = await mount(MODELS, { mongo: mongo.uri });
  await Promise.all(MODELS.map((each) => getModel(each).init()));
  return {
    ...app,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await mongo.stop();
    },
  };
}

/** How many entities a route has. */
async function count(app: Mounted, route: string): Promise<number> {
  return (await app.read<EntityBody[]>(route)).length;
}

const RULES: Readonly<Record<string, (app: Mounted) => Promise<void>>> = {
  async "in one transaction, and shows them in their order"(app) {
    const sent = await watchCommands(app.database.uri);
    for (const route of BOTH) {
      sent.length = 0;
      const reply = await app.post<EntityBody[]>(route, named("a", "b", "c"));
      assertEquals([reply.status, reply.body.map(({ name }) => name)], [201, ["a", "b", "c"]]);
      assertEquals(namesOf(sent), ["insert", "commitTransaction"], route);
      assertEquals([reply.headers.get("location"), reply.headers.get("etag")], [null, null]);
      for (const each of reply.body) {
        assertEquals(Object.keys(each).sort(), ["__v", "_id", "name", "rank"]);
        assertEquals(await app.read(`${route}/${each._id}`), each);
      }
      assertEquals((await app.read<EntityBody[]>(route)).map(({ _id }) => _id), [
        ...reply.body.map(({ _id }) => _id),
      ]);
      const stored = await mongoose.connection.collection(`${route.slice(1)}s`).findOne();
      assertEquals([stored?.__v, stored?.secret], [0, "hidden"]);
    }
  },

  async "takes one object as ever, nothing, and one element without a transaction"(app) {
    const sent = await watchCommands(app.database.uri);
    for (const route of BOTH) {
      const alone = await app.post(route, { name: "alone" });
      assertEquals([alone.status, alone.body.name], [201, "alone"]);
      assertEquals(alone.headers.get("location"), `${route}/${alone.body._id}`);
      assert(alone.headers.has("etag"));
      sent.length = 0;
      const none = await app.post<EntityBody[]>(route, []);
      assertEquals([none.status, none.text, sent.length], [201, "[]", 0]);
      const [first] = await app.created<EntityBody[]>(route, named("first"));
      assertEquals([first?.name, namesOf(sent)], ["first", ["insert"]], route);
    }
    const refused = await app.post<ErrorBody>("/single", named("a"));
    assertEquals([refused.status, refused.body.code], [400, "BAD_FORMAT"]);
  },

  async "refuses more elements than it takes, by a 413 that names the limit"(app) {
    const names = named("a", "b", "c", "d", "e");
    for (const route of BOTH) {
      const before = await count(app, route);
      assertEquals((await app.post(route, names)).status, 201);
      const { status, body } = await app.post(route, [...names, { name: "f" }]);
      assertEquals([status, body.code, body.limit], [413, "PAYLOAD_TOO_LARGE", 5]);
      assertEquals(await count(app, route), before + 5);
    }
  },

  async "names the problems of all elements in one answer, by their index"(app) {
    for (const route of BOTH) {
      const before = await count(app, route);
      const wrong = [{ name: "ok" }, { rank: "x" }, 5, { name: "b", author: "?" }, { name: null }];
      const { status, body } = await app.post<ErrorBody>(route, wrong);
      assertEquals([status, body.code], [400, "BAD_DATA"]);
      const kinds = Object.entries(body.errors ?? {}).map(([key, { kind }]) => `${key} ${kind}`);
      // A preSave hook may set what a body leaves out.
      const missing = route === "/plain" ? ["1.name required"] : [];
      const expected = ["1.rank Number", "2 object", "3.author ObjectId", "4.name required"];
      assertEquals(kinds.sort(), [...missing, ...expected].sort());
      const strangers = [{ name: "a" }, { name: "b", author: NOBODY }];
      const unknown = await app.post<ErrorBody>(route, strangers);
      assertEquals(Object.keys(unknown.body.errors ?? {}), ["1.author"]);
      assertEquals((await app.post(route, [{ name: "a" }, {}])).status, 400);
      assertEquals(await count(app, route), before);
    }
  },

  async "refuses a value that another entity has, by the index of its element"(app) {
    for (const route of BOTH) {
      await app.created(route, { name: "first", slug: `taken${route}` });
      const before = await count(app, route);
      const slugs = [`free${route}`, `taken${route}`];
      const bodies = slugs.map((slug) => ({ name: "next", slug }));
      const { status, body, text } = await app.post(route, [{ name: "other" }, ...bodies]);
      assertEquals([status, body.code, body.index, body.fields], [409, "CONFLICT", 2, ["slug"]]);
      assert(!text.includes("taken"));
      const twice = await app.post(route, [bodies[0], bodies[0]]);
      assertEquals([twice.status, twice.body.index], [409, 1]);
      assertEquals(await count(app, route), before);
    }
  },

  async "has the limits of bodies count for each element"(app) {
    const wide = (keys: number) =>
      Object.fromEntries(Array.from({ length: keys }, (_, index) => [`k${index}`, 1]));
    const { status, body } = await app.post<ErrorBody>("/plain", [{ name: "a" }, wide(5001)]);
    assertEquals([status, body.code], [400, "BAD_FORMAT"]);
    const below = await app.post<ErrorBody>("/plain", [wide(3000), wide(3000)]);
    assertEquals([below.status, below.body.code], [400, "BAD_DATA"]);
  },

  async "writes the same again where the commit fails"(app) {
    for (const route of BOTH) {
      const before = await count(app, route);
      const errorLabels = ["TransientTransactionError"];
      await failCommand(mongoose.connection, ["commitTransaction"], {
        mode: { times: 2 },
        errorCode: 112,
        errorLabels,
      });
      const made = await app.created<EntityBody[]>(route, named("x", "y", "z"));
      assertEquals(await count(app, route), before + 3);
      for (const { _id, __v } of made) {
        assertEquals([__v, (await app.get(`${route}/${_id}`)).status], [0, 200]);
      }
    }
  },
};

test("create({ many }) creates all of an array, or none", async (t) => {
  await using app = await openApp();
  for (const [name, check] of Object.entries(RULES)) await t.step(name, () => check(app));
});

test("create({ many, atomic: false }) tells the fate of each, without transactions", async () => {
  await using app = await mount(MODELS);
  await Promise.all(MODELS.map((each) => getModel(each).init()));
  const sent = await watchCommands(app.database.uri);
  for (const route of ["/each", "/each-hooked"]) {
    await app.created(route, { name: "first", slug: "taken" });
    sent.length = 0;
    const slugs = ["a", "taken", "b"].map((slug) => ({ name: slug, slug }));
    const [a, taken, b] = await fatesOf(app, { route, elements: slugs });
    assertEquals([a?.status, taken?.status, b?.status], [201, 409, 201]);
    assertEquals([taken?.code, taken?.fields, taken?._id], ["CONFLICT", ["slug"], undefined]);
    assertEquals(namesOf(sent), ["insert"]);
    const stored = await app.read<EntityBody[]>(route);
    const ids = [a?._id, b?._id].map(String);
    assertEquals(stored.map(({ _id }) => _id).slice(1).sort(), ids.sort());
    const elements = [{ name: "c" }, {}, 7, { name: "d", rank: "x" }];
    const fates = await fatesOf(app, { route, elements });
    assertEquals(fates.map(({ status }) => status), [201, 400, 400, 400]);
    assertEquals(Object.keys(Object(fates[1]?.errors)), ["name"]);
    assertEquals(fates[2]?.code, "BAD_FORMAT");
    assertEquals(Object.keys(Object(fates[3]?.errors)), ["rank"]);
    assertEquals([await count(app, route), (await app.post(route, [])).status], [4, 201]);
  }
});

/** Sends elements, and gives what the answer tells of each. */
async function fatesOf(
  app: Mounted,
  { route, elements }: { readonly route: string; readonly elements: readonly unknown[] },
): Promise<EntityBody[]> {
  const { status, body } = await app.post<EntityBody[]>(route, elements);
  assertEquals(status, 207);
  return body;
}

test("create({ many }) needs transactions: else it does not start, or writes nothing", async () => {
  await using database = await openDatabase();
  assertThrows(
    () => Framework.initialize({ models: [Plain] }),
    TypeError,
    `Cannot mount "Plain": create() writes all or nothing, but`,
  );
  assertThrows(() => Framework.initialize({ models: [Hooked] }), TypeError, "atomic: false");
  Framework.initialize({ models: [Each, EachHooked, Single] });
  assert(database.name);
});

test("create({ many }) on a server without transactions that is found later is a 500", async () => {
  const logged: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void logged.push(error);
  await using app = await mount(MODELS, { onError });
  for (const route of BOTH) {
    logged.length = 0;
    assertEquals((await app.post(route, named("a", "b"))).status, 500);
    assertMatch(String(logged[0]), /standalone server.*atomic: false/);
    assertEquals(await count(app, route), 0);
    assertEquals((await app.post(route, named("a"))).status, 201);
  }
});
