import { assert, assertEquals } from "@std/assert";
import type { Schema } from "mongoose";
import {
  arrayProp,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  replace,
  rest,
} from "../../../mod.ts";
import { watchCommands } from "../../support/both_paths.ts";
import { test } from "../../harness/testing.ts";
import { asQuery, type ErrorBody, mount, NOBODY } from "../../support/support.ts";

const tenantOf = (req: FrameworkRequest) => String(req.headers["x-tenant"]);

/** Narrows what a request selects, as hooks do, by an equality that names a readonly field. */
const narrow = (req: FrameworkRequest) => {
  req.framework.filter.tenant = tenantOf(req);
  return true;
};

let hooked = 0;

const own = (req: FrameworkRequest, doc: Doc) => {
  hooked++;
  if (doc.isNew) Reflect.set(doc, "tenant", tenantOf(req));
  return doc;
};

type Doc = { isNew?: boolean; tenant?: string };

@rest({
  route: "/scoped",
  methods: [replace({ by: "slug", preSave: own }), one()],
  scope: (req) => ({ tenant: tenantOf(req) }),
})
@rest({
  route: "/bare",
  methods: [replace({ by: "slug" })],
  scope: (req) => ({ tenant: tenantOf(req) }),
})
@rest({ route: "/narrowed", methods: [replace({ by: "slug", preFetch: narrow })] })
@rest({
  route: "/by_id",
  methods: [replace({ preSave: own })],
  scope: (req) => ({ tenant: tenantOf(req) }),
})
@rest({
  route: "/seen",
  methods: [replace<Note>({
    by: "slug",
    postFetch: (req, note) => note.isNew || note.tenant === tenantOf(req) ? note : null,
    preSave: own,
  })],
})
@rest({ route: "/open", methods: [replace({ by: "slug" })] })
@rest({ route: "/rated", methods: [replace({ by: "slug" })], scope: () => ({ stars: { $lt: 5 } }) })
class Note extends FrameworkModel {
  @prop({ unique: true })
  slug!: string;
  @prop({ unique: true, sparse: true })
  code?: string;
  @prop({ readonly: true })
  tenant?: string;
  @prop()
  text?: string;
  @prop({ type: Number, default: 1 })
  stars?: number;
  @arrayProp({ items: String })
  tags?: string[];
}

const of = (tenant: string, more = {}) => ({ headers: { "x-tenant": tenant, ...more } });

test("what is outside of the scope, or is not selected, is a 404: no answer tells that it is there", async () => {
  await using app = await mount([Note]);
  await getModel(Note).init();
  const { _id } = await getModel(Note).create({ slug: "k", tenant: "a", text: "of a" });
  const before = await getModel(Note).collection.findOne();
  for (const path of ["/scoped/k", "/narrowed/k", `/by_id/${_id}`, "/seen/k"]) {
    for (const headers of [{}, { "If-None-Match": "*" }]) {
      const reply = await app.put<ErrorBody>(path, { text: "of b" }, of("b", headers));
      assertEquals([reply.status, reply.body.code], [404, "NOT_FOUND"], path);
      assertEquals(reply.text.includes("slug"), false);
    }
    const bound = await app.put(path, { text: "of b" }, of("b", { "If-Match": "*" }));
    assertEquals(bound.status, path === "/seen/k" ? 404 : 412, path);
  }
  assertEquals(await getModel(Note).collection.findOne(), before);
  for (const path of ["/scoped/k", "/narrowed/k", `/by_id/${_id}`, "/seen/k"]) {
    const text = { text: path, ...path.startsWith("/by_id") && { slug: "k" } };
    const { status, body } = await app.put(path, text, of("a"));
    assertEquals([status, body.text, body.tenant], [200, path, "a"], path);
  }
});

test("a new entity is inside of the scope, or it is a 403", async () => {
  await using app = await mount([Note]);
  for (const path of ["/bare/k"]) {
    const { status, body } = await app.put<ErrorBody>(path, { text: "x", tenant: "a" }, of("a"));
    assertEquals([status, body.code], [403, "FORBIDDEN"]);
  }
  assertEquals((await app.put("/rated/k", { stars: 5 })).status, 403);
  assertEquals(await getModel(Note).countDocuments(), 0);
  const made = await app.put("/scoped/k", { text: "x" }, of("a"));
  assertEquals([made.status, made.body.tenant], [201, "a"]);
  assertEquals(made.headers.get("location"), `/scoped/${made.body._id}`);
  // An entity cannot leave it either, nor by what a body leaves out
  assertEquals((await app.put("/rated/k", { stars: 3 })).status, 200);
  assertEquals((await app.put("/rated/k", { stars: 7 })).status, 403);
  assertEquals((await app.put("/rated/k", {})).body.stars, 1);
});

test("a value that another unique index has is a 409 as ever", async () => {
  await using app = await mount([Note]);
  await getModel(Note).init();
  await getModel(Note).create({ slug: "other", code: "taken", tenant: "a" });
  for (const path of ["/open/k", "/scoped/k", "/narrowed/k"]) {
    for (const status of [409, 409]) {
      const reply = await app.put<ErrorBody>(path, { code: "taken" }, of("b"));
      assertEquals([reply.status, reply.body.fields], [status, ["code"]], path);
    }
  }
  assertEquals((await app.put("/open/k", {})).status, 201);
  const late = await app.put<ErrorBody>("/open/k", { code: "taken" });
  assertEquals([late.status, late.body.fields], [409, ["code"]]);
});

test("conditions of hooks are not written to a new entity", async () => {
  await using app = await mount([Note]);
  const { status, body } = await app.put("/narrowed/k", { text: "x" }, of("a"));
  assertEquals([status, body.text, body.tenant], [201, "x", undefined]);
  const left = await getModel(Note).collection.findOne();
  assertEquals(Object.keys(left ?? {}).includes("tenant"), false);
});

test("replace() has no q: one that a client sends is a 400, and nothing is written", async () => {
  await using app = await mount([Note]);
  for (
    const query of [asQuery({ tenant: "x" }), "?q=", "?q[text]=x", "?q%5Btext%5D=x", "?a=1&q={}"]
  ) {
    const reply = await app.put<ErrorBody>(`/open/k${query}`, { text: "x" });
    assertEquals([reply.status, reply.body.code], [400, "BAD_FORMAT"], query);
  }
  assertEquals(await getModel(Note).countDocuments(), 0);
  assertEquals((await app.put("/open/k?page=1", {})).status, 201);
});

test("an entity that leaves the scope before it is written is not changed", async () => {
  @rest({
    route: "/left",
    methods: [replace<Left>({
      by: "slug",
      preSave: async (_req, left) => {
        await getModel(Left).collection.updateOne({}, { $set: { tenant: "b" } });
        return left;
      },
    })],
    scope: () => ({ tenant: "a" }),
  })
  class Left extends FrameworkModel {
    @prop({ unique: true })
    slug!: string;
    @prop({ readonly: true, default: "a" })
    tenant?: string;
    @prop()
    text?: string;
  }
  await using app = await mount([Left]);
  await getModel(Left).create({ slug: "k" });
  const { status } = await app.put("/left/k", { text: "x" });
  assertEquals(status, 404);
  const [left, ...others] = await getModel(Left).collection.find({}).toArray();
  assertEquals([left?.tenant, left?.text, others], ["b", undefined, []]);
});

test("without hooks and with a flat body, a replacement is one statement", async () => {
  await using app = await mount([Note]);
  await getModel(Note).init();
  const sent = await watchCommands(app.database.uri);
  const found = () =>
    sent.splice(0).map(({ name }) => name).filter((name) => name !== "listIndexes");
  await getModel(Note).init();
  await app.put("/open/warm", {});
  found();
  for (const path of ["/open/k", "/open/k"]) {
    const { status, headers, text } = await app.put(path, { text: "x", tags: ["a"] });
    assertEquals([status, found()], [status, ["findAndModify"]], text);
    const bound = { headers: { "If-Match": String(headers.get("etag")) } };
    assertEquals((await app.put(path, { text: "y" }, bound)).status, 200);
    assertEquals(found(), ["findAndModify"]);
  }
  assert(await getModel(Note).countDocuments() > 0);
});

test("without its unique index, a replacement is a 503, and nothing is written", async () => {
  @rest({ route: "/unindexed", methods: [replace({ by: "slug" })] })
  @rest({ route: "/unindexed_ids", methods: [replace()] })
  class Unindexed extends FrameworkModel {
    static override schemaOptions = { autoIndex: false };
    static override configure(schema: Schema) {
      schema.index({ slug: 1 }, { unique: true });
    }
    @prop()
    slug!: string;
  }
  const told: unknown[] = [];
  await using app = await mount([Unindexed], { onError: (_req, error) => void told.push(error) });
  assertEquals((await app.put("/unindexed/k", {})).status, 503);
  assertEquals([await getModel(Unindexed).countDocuments(), told.length], [0, 1]);
  assertEquals((await app.put(`/unindexed_ids/${NOBODY}`, {})).status, 503);
  await getModel(Unindexed).collection.createIndex({ slug: 1 }, { unique: true });
  assertEquals((await app.put("/unindexed/k", {})).status, 201);
});

test("replace() of a key that is out of the scope runs its hooks once, and once more before the 404", async () => {
  await using app = await mount([Note]);
  await getModel(Note).init();
  await getModel(Note).create({ slug: "taken", tenant: "b" });
  hooked = 0;
  const reply = await app.put("/scoped/taken", { text: "x" }, { headers: { "x-tenant": "a" } });
  assertEquals([reply.status, hooked], [404, 2]);
});
