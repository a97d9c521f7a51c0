import { assert, assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  replace,
  rest,
} from "../../../mod.ts";
import type { Entity } from "../../../mod.ts";
import type { HookName } from "../../../src/declare/hooks/hooks.ts";
import { test } from "../../harness/testing.ts";
import { type ErrorBody, mount, NOBODY } from "../../support/support.ts";

/** What the hooks of this file were called with. */
const calls: string[] = [];

type Saved = Entity<Item>;

/** Makes a hook that notes the names of the entities that it gets. */
function note(hook: HookName) {
  return (_req: FrameworkRequest<Item>, ...entities: (Saved | undefined)[]): Saved => {
    const names = entities.map((entity) => entity?.name ?? (entity?.isNew ? "new" : "nameless"));
    calls.push([hook, ...names].join(" "));
    return entities[0] as Saved;
  };
}

const noting = { postFetch: note("postFetch"), preSave: note("preSave"), preSend: note("preSend") };

@rest({ route: "/noted", methods: [replace<Item>({ by: "slug", ...noting }), one()] })
@rest({
  route: "/own",
  methods: [replace<Item>({
    by: "slug",
    ...noting,
    persist: async (req, item, previous) => {
      note("persist")(req, item, ...previous ? [previous] : []);
      await item.save();
      return item;
    },
  })],
})
@rest({
  route: "/fetched",
  methods: [replace<Item>({
    by: "slug",
    ...noting,
    fetch: (req) => getModel(Item).findOne({ slug: String(req.params.id) }),
  })],
})
@rest({
  route: "/foreign",
  methods: [replace<Item>({
    by: "slug",
    fetch: (req) =>
      req.params.id === "there" ? { slug: "there", name: "old", secret: "kept" } : null,
    persist: (_req, item) => item,
  })],
})
@rest({
  route: "/elsewhere",
  methods: [replace<Item>({
    fetch: (req) => req.params.id === "isbn 1" ? { _id: "isbn 1", slug: "s", name: "old" } : null,
    persist: (_req, item) => item,
  })],
})
@rest({ route: "/refused", methods: [replace<Item>({ by: "slug", preSave: () => null })] })
@rest({ route: "/silent", methods: [replace<Item>({ by: "slug", preSend: () => null })] })
@rest({ route: "/closed", methods: [replace({ preFetch: () => false })] })
class Item extends FrameworkModel {
  static override configure(schema: Schema) {
    schema.pre("save", function () {
      calls.push("save");
    });
  }
  @prop({ unique: true })
  slug!: string;
  @prop({ required: true })
  name!: string;
  @prop()
  text?: string;
  @prop({ hidden: true })
  secret?: string;
}

test("hooks and middleware run once, for a new entity as for a creation, and else with the one before", async () => {
  await using app = await mount([Item]);
  await getModel(Item).init();
  for (const [path, persist] of [["/noted", false], ["/own", true], ["/fetched", false]] as const) {
    const persists = (...names: string[]) => persist ? [["persist", ...names].join(" ")] : [];
    calls.length = 0;
    const made = await app.put(`${path}/k`, { name: "a" });
    assertEquals([made.status, made.body.name], [201, "a"], made.text);
    assertEquals(calls.splice(0), [
      ...["postFetch new", "preSave a", ...persists("a"), "save", "preSend a"],
    ], path);
    const changed = await app.put(`${path}/k`, { name: "b" });
    assertEquals([changed.status, changed.body.name], [200, "b"], path);
    assertEquals(calls.splice(0), [
      ...["postFetch a", "preSave b a", ...persists("b a"), "save", "preSend b a"],
    ], path);
    await getModel(Item).deleteMany({});
  }
});

test("a hook that refuses leaves everything as it is", async () => {
  await using app = await mount([Item]);
  assertEquals((await app.put("/refused/k", { name: "a" })).status, 403);
  assertEquals((await app.put(`/closed/${NOBODY}`, { name: "a" })).status, 403);
  assertEquals(await getModel(Item).countDocuments(), 0);
  const silent = await app.put("/silent/k", { name: "a" });
  assertEquals([silent.status, silent.text, silent.headers.get("location")], [
    204,
    "",
    "/silent/k",
  ]);
  assertEquals((await app.put("/refused/k", { name: "b" })).status, 403);
  assertEquals((await getModel(Item).findOne())?.name, "a");
  assertEquals((await app.put("/silent/k", { name: "b" })).status, 204);
  assertEquals((await getModel(Item).findOne())?.name, "b");
});

test("an entity of another database is replaced as a whole, and validated", async () => {
  await using app = await mount([Item]);
  const there = await app.put("/foreign/there", { name: "new" });
  assertEquals([there.status, there.body], [200, { slug: "there", name: "new" } as never]);
  const bad = await app.put<ErrorBody>("/foreign/there", { text: "x" });
  assertEquals([bad.status, Object.keys(bad.body.errors ?? {})], [400, ["name"]]);
  const made = await app.put("/foreign/other", { name: "new" });
  assertEquals([made.status, made.body.slug], [201, "other"]);
});

test("a fetch hook finds entities by any identifier, and creates only where the class can have it", async () => {
  await using app = await mount([Item]);
  const there = await app.put("/elsewhere/isbn%201", { slug: "s", name: "new" });
  assertEquals([there.status, there.body], [
    200,
    { _id: "isbn 1", slug: "s", name: "new" } as never,
  ]);
  assertEquals((await app.put("/elsewhere/isbn%202", { slug: "t", name: "new" })).status, 404);
  const made = await app.put(`/elsewhere/${NOBODY}`, { slug: "t", name: "new" });
  assertEquals([made.status, made.body._id], [201, NOBODY]);
});

test("a hidden entity is looked for without running its hooks each time", async () => {
  let saves = 0;
  @rest({
    route: "/scoped",
    methods: [replace<Scoped>({ by: "slug", preSave: (_req, scoped) => (saves++, scoped) })],
    scope: () => ({ open: true }),
  })
  class Scoped extends FrameworkModel {
    @prop({ unique: true })
    slug!: string;
    @prop({ type: Boolean, default: true, readonly: true })
    open?: boolean;
  }
  await using app = await mount([Scoped]);
  await getModel(Scoped).create({ slug: "k", open: false });
  assertEquals((await app.put("/scoped/k", {})).status, 404);
  assert(saves <= 2, String(saves));
});

test("a duplicate key that middleware meets in another collection is an error of the host", async () => {
  @rest({ route: "/logged", methods: [replace<Logged>({ by: "slug" })] })
  class Logged extends FrameworkModel {
    static override configure(schema: Schema) {
      schema.pre("save", async () => {
        await getModel(Item).collection.insertOne({ slug: "log" });
      });
    }
    @prop({ unique: true })
    slug!: string;
  }
  const told: unknown[] = [];
  await using app = await mount([Logged, Item], {
    onError: (_req, error) => void told.push(error),
  });
  await getModel(Item).init();
  assertEquals((await app.put("/logged/a", {})).status, 201);
  assertEquals((await app.put("/logged/b", {})).status, 500);
  assertEquals([told.length, await getModel(Logged).countDocuments()], [1, 1]);
});
