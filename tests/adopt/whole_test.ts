import { assert, assertEquals } from "@std/assert";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  rest,
  update,
} from "../../mod.ts";
import { adopt } from "../../src/adopt/mod.ts";
import { openapi } from "../../src/openapi/mod.ts";
import { admin } from "../../src/admin/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { test } from "../harness/testing.ts";
// @ts-types="express-types"
import express from "express";
import { mountOnReplicaSet } from "../support/mount_on_replica_set.ts";
import { asQuery, type EntityBody, start } from "../support/support.ts";

const { Schema } = mongoose;

const noteSchema = new Schema({ text: { type: String, required: true }, mood: String });

const shopSchema = new Schema({
  name: { type: String, required: true },
  org: { type: String, required: true },
  margin: Number,
  notes: [noteSchema],
  cover: noteSchema,
  partner: { type: Schema.Types.ObjectId, ref: "WholeShop" },
  deletedAt: Date,
  deletedBy: String,
  deletedWith: Schema.Types.ObjectId,
}, { timestamps: true });

const isKeeper = (req: { readonly headers: Readonly<Record<string, unknown>> }) =>
  req.headers["x-user"] === "keeper";

const OPTIONS = { tenant: "org", trash: { see: isKeeper }, history: true } as const;

const Shop = adopt(mongoose.model("WholeShop", shopSchema), {
  shown: ["name", "notes.text", "cover", "partner"],
  writable: ["name", "margin", "notes", "cover", "partner"],
  rest: [{
    route: "/referring-shops",
    ...OPTIONS,
    methods: [all({ filter: ["name", "partner.name"] as never })],
  }, {
    route: "/whole-shops",
    ...OPTIONS,
    main: true,
    methods: [
      all({
        populate: { partner: true },
        groups: { by: ["name"], count: true },
        live: true,
        distinct: ["name"],
        formats: ["ndjson", "csv"],
        search: ["name"],
        sort: ["name"],
        select: ["name"],
        count: {},
      }),
      one(),
      create({ many: 5 }),
      update(),
      remove(),
    ],
  }],
  parts: {
    notes: { methods: [all(), one(), create(), update(), remove()] },
    cover: { methods: [one(), update()] },
  },
});

@rest({
  route: "/whole-rings",
  tenant: false,
  methods: [all({ populate: { shop: true } }), one(), create()],
})
class WholeRing extends FrameworkModel {
  @prop({ ref: () => Shop, exists: true })
  shop?: Ref<InstanceType<typeof Shop>>;
  @rest({ methods: [all()] })
  @arrayProp({ items: () => Shop })
  shops!: Ref<InstanceType<typeof Shop>>[];
}

const tenant = (req: { readonly headers: Readonly<Record<string, unknown>> }) =>
  String(req.headers["x-org"] ?? "a");

const options = { tenant, actor: () => "ann" };

async function open() {
  const app = await mountOnReplicaSet([Shop, WholeRing], options);
  const shops = app.database.connection.collection("wholeshops");
  const given = {
    name: "One",
    org: "b",
    margin: 7,
    notes: [{ text: "t", mood: "bad" }],
    cover: { text: "c", mood: "m" },
  };
  const { body } = await app.post<EntityBody>("/whole-shops", given);
  return { app, shops, shop: body, path: `/whole-shops/${body._id}` };
}

test("trash, history and tenants of an adopted model use the paths of its schema", async () => {
  const { app, shops, shop, path } = await open();
  await using _app = app;
  assertEquals(Object.keys(shop).sort(), ["__v", "_id", "cover", "name", "notes"]);
  assertEquals((await shops.findOne())?.org, "a");
  const other = { headers: { "x-org": "b" } };
  assertEquals((await app.get(path, other)).status, 404);
  const changed = await app.patch(path, { margin: 8, org: "b" });
  assertEquals(changed.status, 200, changed.text);
  assertEquals((await app.delete(path)).status, 204);
  const gone = await shops.findOne();
  assertEquals([gone?.deletedBy, gone?.org, gone?.margin], ["ann", "a", 8]);
  assertEquals((await app.get("/whole-shops")).body, []);
  const keeper = { headers: { "x-user": "keeper" } };
  const trash = await app.get<EntityBody[]>("/whole-shops?trash=only", keeper);
  assertEquals(trash.body.map(({ _id }) => _id), [shop._id]);
  const restored = await app.post(`${path}/restore`, {}, keeper);
  assertEquals(restored.status, 200, restored.text);
  const history = await app.get(`${path}/history`);
  assertEquals([history.status, history.text.includes("margin")], [200, false], history.text);
});

test("embedded objects of an adopted model have routes, within what is shown", async () => {
  const { app, shops, path } = await open();
  await using _app = app;
  const made = await app.post<EntityBody>(`${path}/notes`, { text: "new", mood: "good" });
  assertEquals([made.status, Object.keys(made.body).sort()], [201, ["_id", "text"]], made.text);
  const notes = await app.get<EntityBody[]>(`${path}/notes`);
  assertEquals(notes.body.map(({ text }) => text), ["t", "new"]);
  assert(!notes.text.includes("mood"));
  for (const filter of [{ mood: "good" }, { "notes.mood": "good" }]) {
    assertEquals((await app.get(`${path}/notes${asQuery(filter)}`)).status, 400);
  }
  assertEquals((await app.patch(`${path}/notes/${made.body._id}`, { text: "b" })).status, 200);
  assertEquals((await app.delete(`${path}/notes/${made.body._id}`)).status, 204);
  assertEquals((await app.patch<EntityBody>(`${path}/cover`, { mood: "x" })).body.mood, "x");
  assertEquals((await shops.findOne())?.notes.length, 1);
});

test("references from and to adopted models are populated within their scopes", async () => {
  const { app, shops, shop } = await open();
  await using _app = app;
  const two = await app.post<EntityBody>("/whole-shops", { name: "Two", partner: shop._id });
  const listed = await app.get<EntityBody[]>("/whole-shops?populate=partner&sort=-name");
  assertEquals(listed.body[0], { ...two.body, partner: shop });
  const byPartner = await app.get<EntityBody[]>(
    `/referring-shops${asQuery({ "partner.name": "One" })}`,
  );
  assertEquals(byPartner.body.map(({ name }) => name), ["Two"]);
  const ring = { shop: shop._id, shops: [shop._id, two.body._id] };
  const made = await app.post<EntityBody>("/whole-rings", ring);
  assertEquals(made.status, 201, made.text);
  await shops.updateOne({ name: "One" }, { $set: { org: "b" } });
  assertEquals((await app.post("/whole-rings", ring)).status, 400);
  const rings = await app.get<EntityBody[]>("/whole-rings?populate=shop");
  assertEquals(rings.body.map(({ shop }) => shop), [null] as never);
});

test("no format, description, tool or page of an adopted model names a hidden path", async () => {
  const { app } = await open();
  await using _app = app;
  const lists = [
    "",
    "?format=csv",
    "?format=ndjson",
    "?distinct=name",
    "?group=name",
    "?search=One",
  ];
  for (const query of lists) {
    const { text, status } = await app.get(`/whole-shops${query}`);
    assertEquals(status, 200, `${query} ${text}`);
    assert(!/margin|org|\bbad\b/.test(text), text);
  }
  for (const query of ["?distinct=margin", "?group=org", "?select=margin", "?populate=org"]) {
    assertEquals((await app.get(`/whole-shops${query}`)).status, 400);
  }
});

test("OpenAPI, tools and the admin page describe an adopted model without hidden paths", async () => {
  const routes = { models: [Shop, WholeRing], ...options };
  const served = express();
  const api = Framework.initialize({ ...routes, tidy: false });
  served.use(express.json(), api, openapi(api, { info: { title: "T", version: "1" } }));
  served.use("/mcp", mcp(api, { expose: [{ model: Shop, route: "/whole-shops" }] }));
  served.use("/admin", admin(api, { title: "Test" }));
  await using app = await start(served);
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const texts = [
    JSON.stringify(Framework.describe(routes)),
    (await app.get("/openapi.json")).text,
    (await app.get("/admin/routes.json")).text,
    (await app.post("/mcp", list, { headers: { "mcp-protocol-version": "2025-11-25" } })).text,
  ];
  for (const text of texts) {
    assert(/whole-?shop/i.test(text), text.slice(0, 300));
    assert(!text.includes('"org"'), text.slice(0, 300));
  }
});

test("queryFor() and getModel() take the adopted class", async () => {
  const { app, shop } = await open();
  await using _app = app;
  const counts = getModel(Shop);
  assertEquals([counts.modelName, await counts.countDocuments({ name: "One" })], ["WholeShop", 1]);
  assertEquals((await counts.findById(shop._id))?.name, "One");
});

const leafSchema = new Schema({
  name: String,
  parent: { type: Schema.Types.ObjectId, ref: "WholeLeaf" },
});

const Leaf = adopt(mongoose.model("WholeLeaf", leafSchema), {
  shown: "all",
  writable: "all",
  rest: {
    route: "/whole-leaves",
    main: true,
    history: true,
    methods: [
      all({ populate: { parent: true }, filter: ["name", "parent.name"] as never }),
      one(),
      create(),
      update(),
      remove(),
    ],
  },
});

test("a path has the name of a member of documents that nobody calls", async () => {
  await using app = await mountOnReplicaSet([Leaf]);
  const root = await app.post<EntityBody>("/whole-leaves", { name: "a" });
  const leaf = await app.post<EntityBody>("/whole-leaves", { name: "b", parent: root.body._id });
  assertEquals(leaf.body.parent, root.body._id, leaf.text);
  const path = `/whole-leaves/${leaf.body._id}`;
  const changed = await app.patch(path, { name: "c" });
  assertEquals(changed.body, { ...leaf.body, name: "c", __v: 1 });
  const found = `/whole-leaves${asQuery({ "parent.name": "a" })}&populate=parent`;
  assertEquals((await app.get(found)).body, [{
    ...leaf.body,
    name: "c",
    __v: 1,
    parent: root.body,
  }]);
  assertEquals((await app.patch<EntityBody>(path, { parent: null })).body.parent, undefined);
  assertEquals((await app.delete(path)).status, 204);
});
