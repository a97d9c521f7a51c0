import { assert, assertEquals } from "@std/assert";
import { Buffer } from "node:buffer";
import mongoose from "mongoose";
// @ts-types="express-types"
import express from "express";
import {
  all,
  arrayProp,
  create,
  type Entity,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  removeAll,
  rest,
  type Restricted,
  update,
} from "../../mod.ts";
import { test } from "../harness/testing.ts";
import { asQuery, type ErrorBody, mount } from "../support/support.ts";

const AGENT = { headers: { "x-role": "agent" } };

const isCustomer = (req: FrameworkRequest) => req.headers["x-role"] !== "agent";

@rest({ route: "/clients", methods: [all(), one()] })
class Client extends FrameworkModel {
  static override schemaOptions = { collection: "attacked_clients" };
  @prop({ required: true })
  name!: string;
  @prop({ hidden: isCustomer })
  phone?: string;
}

/** What a hook has kept of another request. */
let kept: unknown;

function keeps<E extends object>(req: FrameworkRequest, entity: E): object {
  if (req.headers["x-keep"] === "give") return kept as object;
  if (req.headers["x-keep"] === "keep") kept = entity;
  if (req.headers["x-keep"] === "copy") kept = { ...entity };
  if (req.headers["x-keep"] === "list") kept = new Map([["a", new Set([[entity]])]]);
  return entity;
}

let counted: unknown;

async function counts(req: FrameworkRequest): Promise<boolean> {
  counted = undefined;
  counted = await req.framework.count();
  return true;
}

function populates(req: FrameworkRequest): boolean {
  req.framework.options.populate = ["client", "clients"];
  return true;
}

function sorts(req: FrameworkRequest): boolean {
  req.framework.options.sort = { rank: -1 };
  return true;
}

async function failsFirst(): Promise<boolean> {
  const doc = new (getModel(Case))({ title: "x", rank: 77 });
  await doc.validate();
  return true;
}

function ranks(_req: FrameworkRequest, entity: Entity<Case>) {
  entity.rank = 1;
  return entity;
}

const page = { size: 2, max: 5 };

@rest({
  route: "/cases",
  methods: [
    all({
      ...{ page, sort: ["title", "rank"], search: { index: true }, count: true },
      populate: { client: { select: ["name", "phone"] } },
    }),
    one(),
    create(),
    update(),
    removeAll(),
  ],
})
@rest({ route: "/counted", methods: [all({ preFetch: counts })] })
@rest({
  route: "/populated",
  methods: [all({ preFetch: populates }), one({ preFetch: populates })],
})
@rest({ route: "/sorted", methods: [all({ page, preFetch: sorts })] })
@rest({ route: "/kept", methods: [all({ preSend: keeps }), one({ preSend: keeps })] })
@rest({ route: "/failing", methods: [all({ preFetch: failsFirst }), create({ preSave: ranks })] })
class Case extends FrameworkModel {
  static override schemaOptions = { collection: "attacked_cases" };
  static override configure(schema: mongoose.Schema): void {
    schema.index({ title: "text", note: "text" });
    schema.add({ deep: { open: String, secret: { type: String, hidden: isCustomer } } });
    schema.virtual("clients", {
      ...{ ref: () => getModel(Client), localField: "client", foreignField: "_id" },
    });
  }
  @prop({ required: true })
  title!: string;
  @prop({ default: "none", hidden: isCustomer })
  note!: Restricted<string>;
  @prop({ type: Number, hidden: isCustomer, unique: true, sparse: true, max: 50 })
  rank?: number;
  @arrayProp({ items: String, hidden: isCustomer })
  tags?: string[];
  @prop({ ref: Client })
  client?: Ref<Client>;
}

const RANKS = [5, 4, 3, 2, 1];

async function store() {
  const client = await getModel(Client).create({ name: "Ann", phone: "555-0100" });
  await getModel(Case).init();
  return await getModel(Case).create(RANKS.map((rank) => ({
    ...{ title: `case ${rank}`, note: "hush", rank, tags: ["hush"], client: client._id },
    deep: { open: "o", secret: "hush" },
  })));
}

const SECRETS = /hush|555-0100|"rank"|"phone"|"tags"|"note"|secret/;

async function serveCases() {
  const app = await mount([Case, Client]);
  const [first] = await store();
  return Object.assign(app, { first: String(first?._id) });
}

test("a total that a hook asks for early obeys functions of fields", async () => {
  await using app = await serveCases();
  const q = asQuery({ rank: { $gt: 2 } });
  assertEquals((await app.get(`/counted${q}`)).status, 400);
  assertEquals(counted, undefined);
  assertEquals((await app.get(`/counted${q}`, AGENT)).status, 200);
  assertEquals(counted, 3);
});

test("what hooks populate is shown as its reader may see it, by virtual references too", async () => {
  await using app = await serveCases();
  for (const url of ["/populated", `/populated/${app.first}`]) {
    const { status, text } = await app.get(url);
    assertEquals(status, 200, text);
    assert(text.includes("Ann") && !SECRETS.test(text), text);
    assert((await app.get(url, AGENT)).text.includes("555-0100"));
  }
});

test("a list populates what it selects, without what a function hides of it", async () => {
  await using app = await serveCases();
  const clientSeen = async (options = {}) => {
    const [first] = await app.read<{ client: object }[]>("/cases?populate=client", options);
    return Object.keys(first?.client ?? {}).sort();
  };
  assertEquals(await clientSeen(), ["_id", "name"]);
  assertEquals(await clientSeen(AGENT), ["_id", "name", "phone"]);
});

test("an entity that a hook has kept of another request is shown to its reader", async () => {
  await using app = await serveCases();
  for (const how of ["keep", "copy", "list"]) {
    const headers = { ...AGENT.headers, "x-keep": how };
    await app.get(`/kept/${app.first}`, { headers });
    const { text } = await app.get(`/kept/${app.first}`, { headers: { "x-keep": "give" } });
    assert(text.includes("case 5") && !SECRETS.test(text), `${how} ${text}`);
  }
});

test("a function hides a path in an object that a plugin adds", async () => {
  await using app = await serveCases();
  const path = `/cases/${app.first}`;
  const { text } = await app.get(path);
  assert(text.includes('"deep":{"open":"o"}'), text);
  for (const filter of [{ "deep.secret": "hush" }, { deep: { open: "o", secret: "hush" } }]) {
    assertEquals((await app.get(`/cases${asQuery(filter)}`)).status, 400);
  }
  await app.updated(path, { deep: { open: "p", secret: "told" } });
  const { deep } = await app.read<{ deep: object }>(path, AGENT);
  assertEquals(deep, { open: "p", secret: "hush" });
});

test("nobody searches a text index of what a function hides from him", async () => {
  await using app = await serveCases();
  assertEquals((await app.get("/cases?search=hush")).status, 400);
  const found = await app.read<unknown[]>("/cases?search=hush", AGENT);
  assertEquals(found.length, 2);
});

test("HEAD tells of what its reader sees", async () => {
  await using app = await serveCases();
  const path = `/cases/${app.first}`;
  const [head, get] = [await app.send("HEAD", path), await app.get(path)];
  for (const name of ["etag", "content-length"]) {
    assertEquals(head.headers.get(name), get.headers.get(name));
  }
  const agent = await app.send("HEAD", path, AGENT);
  assert(agent.headers.get("etag") !== head.headers.get("etag"));
  const headers = { "if-none-match": String(agent.headers.get("etag")) };
  assertEquals((await app.get(path, { headers })).status, 200);
});

test("removeAll() removes nothing by what a function hides", async () => {
  await using app = await serveCases();
  for (
    const filter of [{ rank: 5 }, { tags: "hush" }, { $or: [{ title: "x" }, { note: "y" }] }]
  ) {
    assertEquals((await app.delete(`/cases${asQuery(filter)}`)).status, 400);
  }
  assertEquals(await getModel(Case).countDocuments(), RANKS.length);
});

test("totals count what a reader may select", async () => {
  await using app = await serveCases();
  const headers = { prefer: "count=exact" };
  const { status, headers: told } = await app.get("/cases", { headers });
  assertEquals([status, told.get("x-total-count")], [200, "5"]);
  const refused = await app.get(`/cases${asQuery({ rank: 5 })}`, { headers });
  assertEquals([refused.status, refused.headers.get("x-total-count")], [400, null]);
});

function linkOf(headers: Headers): string {
  return /^<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1] ?? "";
}

function cursorIn(link: string): Record<string, unknown> {
  const after = new URL(link, "http://x").searchParams.get("after") ?? "";
  return mongoose.mongo.BSON.deserialize(Buffer.from(after, "base64url"));
}

test("a page in an order that a function hides tells nothing of it", async (t) => {
  await using app = await mount([Case, Client]);
  await store();
  const agents = linkOf((await app.get("/sorted", AGENT)).headers);
  const customers = linkOf((await app.get("/sorted")).headers);
  await t.step("the link of an agent holds values, that of a customer none", () => {
    assertEquals((cursorIn(agents).v as unknown[])[0], 4);
    assertEquals(Object.keys(cursorIn(customers)).sort(), ["i", "n", "o"]);
  });
  await t.step(
    "a customer cannot use that of an agent, nor one with values of his own",
    async () => {
      assertEquals((await app.get(agents)).status, 400);
      const made = mongoose.mongo.BSON.serialize({
        ...cursorIn(agents),
        v: [3, new mongoose.Types.ObjectId()],
      });
      const after = Buffer.from(made).toString("base64url");
      assertEquals((await app.get(`/sorted?after=${after}`)).status, 400);
      assertEquals((await app.get(customers)).status, 200);
    },
  );
  await t.step("a customer's sort does not take it", async () => {
    const agent = linkOf((await app.get("/cases?sort=-rank", AGENT)).headers);
    const { status, text } = await app.get(agent);
    assertEquals(status, 400);
    assert(!text.includes("rank"), text);
  });
});

test("refusals do not tell what a function hides", async (t) => {
  await using app = await mount([Case, Client], { onError: () => {} });
  await store();
  await t.step("a duplicate that a hook makes", async () => {
    const { status, text } = await app.post("/failing", { title: "new" });
    assertEquals(status, 409);
    const agent = await app.post<ErrorBody>("/failing", { title: "new" }, AGENT);
    assertEquals(agent.body.fields?.length, 1);
    assert(!text.includes(String(agent.body.fields)), text);
  });
  await t.step("a rule, broken in a hook that runs before the functions", async () => {
    const { text } = await app.get("/failing");
    assert(!/77|50/.test(text), text);
  });
  await t.step("values that are not of its type", async () => {
    const wrong = await app.post("/cases", { title: "y", rank: "wrong", tags: { a: 1 } });
    assertEquals(wrong.status, 201, wrong.text);
    const agent = await app.post("/cases", { title: "y", rank: "wrong" }, AGENT);
    assertEquals(agent.status, 400);
  });
});

test("queries of the application's own routes see what their reader sees", async () => {
  await using app = await mount([Case, Client], {
    prepare: (host) => {
      host.use(express.json());
      host.get("/own", async (req, res) => {
        const { filter, model } = await Framework.queryFor(req, Case, { route: "/cases" });
        res.json(await model.countDocuments(filter as object));
      });
    },
  });
  await store();
  const q = asQuery({ $or: [{ "deep.secret": "hush" }, { rank: 1 }] });
  assertEquals((await app.get(`/own${q}`)).status, 400);
  assertEquals(await app.read<unknown>(`/own${q}`, AGENT), 5);
});
