import { assertEquals } from "@std/assert";
import { admin } from "@mongrove/mongrove/admin";
import { mcp } from "@mongrove/mongrove/mcp";
// @ts-types="express-types"
import express from "express";
import type { Schema } from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  getModel,
  one,
  prop,
  type Ref,
  remove,
  replace,
  rest,
  StoredFile,
  update,
} from "../../mod.ts";
import type { PageDocument } from "../../src/admin/document.ts";
import { follow } from "../../src/changes/mod.ts";
import { tidy } from "../features/files/shelf.ts";
import { at, declareId, ID_KINDS, type Kind } from "../fixtures/id_kinds.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "../mcp/mcp.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import type { EntityBody } from "../support/support.ts";
import { until } from "../support/until.ts";

function declare({ type }: Kind) {
  @rest({
    route: "/owners",
    methods: [
      all<Owner>({ page: { max: 9 }, sort: ["n"], formats: ["csv", "ndjson"] }),
      one(),
      create<Owner>({ many: 9, atomic: false, formats: ["csv", "ndjson"] }),
      update(),
      remove(),
      replace(),
    ],
  })
  @rest({
    route: "/stored",
    methods: [
      one({ fetch: fetchOwner as never }),
      create({ persist: (_req, owner) => owner.save() }),
      update({ persist: (_req, owner) => owner.save() }),
    ],
  })
  class Owner extends FrameworkModel {
    @prop({ type: Number })
    n?: number;
    @rest({ methods: [one(), replace(), remove()] })
    @prop({ type: StoredFile, maxBytes: 1000 })
    photo?: StoredFile;
    static override configure(schema: Schema): void {
      declareId(schema, type);
    }
  }
  async function fetchOwner({ params }: FrameworkRequest) {
    return await getModel(Owner).findById(params.id);
  }
  @rest({ route: "/pets", methods: [all(), create(), remove()] })
  class Pet extends FrameworkModel {
    @prop({ ref: Owner, onDelete: "restrict" })
    held?: Ref<Owner>;
    @prop({ ref: Owner, onDelete: "cascade" })
    owner?: Ref<Owner>;
  }
  return { Owner, Pet };
}

async function serve(kind: Kind) {
  const { Owner, Pet } = declare(kind);
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: [Owner, Pet] });
  app.use(api);
  const operations = ["all", "one", "create", "update"] as const;
  app.use("/mcp", mcp(api, { expose: [{ model: Owner, route: "/owners", operations }] }));
  app.use("/admin", admin(api, { title: "Test" }));
  app.use(Framework.errors({ notFound: true }));
  const served = await serveTools(app, await sharedReplicaSet());
  await Promise.all([Owner, Pet].map((each) => getModel(each).init()));
  return { app: served, Owner, Pet };
}

function eachKind(name: string, run: (kind: Kind, type: string) => Promise<void>): void {
  for (const [type, kind] of Object.entries(ID_KINDS)) {
    test(`an _id of the type ${type} ${name}`, () => run(kind, type));
  }
}

eachKind("names the files of an entity", async (kind) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  for (const [n, _id] of kind.ids.entries()) {
    await app.created("/owners", { _id });
    const path = at("/owners", _id);
    const url = `${app.url}${path}/photo`;
    const headers = { "content-type": "text/plain" };
    const stored = await fetch(url, { method: "PUT", headers, body: `photo ${n}` });
    assertEquals([stored.status, stored.headers.get("location")], [201, `${path}/photo`]);
    await stored.body?.cancel();
    await tidy(48);
    assertEquals(await (await fetch(url)).text(), `photo ${n}`);
    const { photo } = await app.read<{ photo: { size: number } }>(path);
    assertEquals(photo.size, 7);
    const removed = await app.delete(`${path}/photo`);
    assertEquals([removed.status, (await app.get(`${path}/photo`)).status], [204, 404]);
  }
});

eachKind("names entities for assistants, and on the admin page", async (kind, name) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  for (const [n, _id] of kind.ids.entries()) {
    const entity = { _id, n, __v: 0 };
    const made = await app.call("create", { model: "Owner", body: { _id, n } });
    assertEquals(made.entity, entity as never, JSON.stringify(made));
    const read = await app.call("read", { model: "Owner", id: String(_id) });
    assertEquals(read.entity, entity as never);
    const sent = { model: "Owner", id: String(_id), body: { n: n + 1 } };
    assertEquals((await app.call("update", sent)).entity, { ...entity, n: n + 1, __v: 1 } as never);
  }
  const pages: unknown[] = [];
  for (let next: object | undefined = {}; next !== undefined;) {
    const listed = await app.call("list", { model: "Owner", limit: 1, ...next });
    pages.push(...listed.entities as object[]);
    next = listed.next as object | undefined;
  }
  assertEquals(pages.map((each) => (each as EntityBody)._id), kind.ids as never);
  const { body: { models } } = await app.get<PageDocument>("/admin/routes.json");
  const { create: form, one: shown } = models.find(({ path }) => path === "/owners")?.operations ??
    {};
  const isId = ({ name }: { readonly name: string }) => name === "_id";
  for (const fields of [form?.body, shown?.answer]) {
    const id = fields?.find(isId);
    assertEquals([id?.type, id?.required], [name, true]);
  }
});

eachKind("is told by follow()", async (kind) => {
  const { app: opened, Owner } = await serve(kind);
  await using app = opened;
  const seen: unknown[] = [];
  await using follower = follow(Owner, {
    name: "ids",
    handle: async ({ kind, _id, entity }) =>
      void seen.push([kind, String(_id), (await entity())?.n]),
  });
  await until(async () => await follower.lag() !== undefined);
  for (const _id of kind.ids) await app.created("/owners", { _id, n: 1 });
  for (const _id of kind.ids) await app.delete(at("/owners", _id));
  const told = (name: string) => kind.ids.map((_id) => [name, String(_id)]);
  await until(() => seen.length === 2 * kind.ids.length);
  assertEquals(
    seen.map((each) => (each as unknown[]).slice(0, 2)).sort(),
    [...told("insert"), ...told("remove")].sort(),
  );
});

eachKind("restricts and cascades", async (kind) => {
  const { app: opened, Pet } = await serve(kind);
  await using app = opened;
  const [first, second] = kind.ids;
  for (const _id of [first, second]) await app.created("/owners", { _id });
  const { _id } = await app.created("/pets", { held: first, owner: second });
  assertEquals((await app.delete(at("/owners", first))).status, 409);
  assertEquals((await app.delete(at("/owners", second))).status, 204);
  assertEquals(await getModel(Pet).countDocuments({ _id }), 0);
  assertEquals((await app.delete(at("/owners", first))).status, 204);
});

eachKind("passes hooks in the place of reads and writes", async (kind) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  for (const _id of kind.ids) {
    const path = at("/stored", _id);
    const made = await app.post("/stored", { _id, n: 1 });
    assertEquals(
      [made.status, made.body._id, made.headers.get("location")],
      [201, _id, path] as never,
    );
    assertEquals((await app.read<EntityBody>(path))._id, _id as never);
    assertEquals((await app.patch<{ n: number }>(path, { n: 2 })).body.n, 2);
    assertEquals([(await app.delete(at("/owners", _id))).status, (await app.get(path)).status], [
      204,
      404,
    ]);
  }
});

eachKind("is a cursor of pages as raw text", async (kind) => {
  const { app: opened } = await serve(kind);
  await using app = opened;
  const { ids } = kind;
  for (const [index, _id] of ids.entries()) await app.created("/owners", { _id, n: -index });
  for (const [index, _id] of ids.entries()) {
    const after = encodeURIComponent(_id);
    const behind = await app.get<EntityBody[]>(`/owners?after=${after}`);
    assertEquals(
      [behind.status, behind.body.map((each) => each._id)],
      [200, ids.slice(index + 1)] as never,
      behind.text,
    );
    const before = await app.get<EntityBody[]>(`/owners?sort=n&after=${after}`);
    assertEquals(
      [before.status, before.body.map((each) => each._id)],
      [200, ids.slice(0, index).toReversed()] as never,
    );
  }
  for (const text of kind.other.filter(() => kind.type !== String)) {
    assertEquals([text, (await app.get(`/owners?after=${text}`)).status], [text, 400]);
  }
});

eachKind("comes back from a table", async (kind) => {
  const { app: opened, Owner } = await serve(kind);
  await using app = opened;
  const stored = () => getModel(Owner).find().sort("_id").lean();
  for (const accept of ["text/csv", "application/x-ndjson"]) {
    await getModel(Owner).collection.deleteMany({});
    for (const [n, _id] of kind.ids.entries()) await app.created("/owners", { _id, n });
    const before = await stored();
    const { text } = await app.get("/owners", { headers: { accept } });
    await getModel(Owner).collection.deleteMany({});
    const table = await app.send("POST", "/owners", {
      raw: text,
      headers: { "content-type": accept },
    });
    assertEquals(await stored(), before as never, table.text);
  }
});
