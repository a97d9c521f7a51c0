import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  rest,
} from "../../mod.ts";
import { type Client, client } from "../support/client.ts";
import { SIX } from "../fixtures/operations.ts";
import { openDatabase } from "../harness/database.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { mount } from "../support/support.ts";

/** Makes a model at a route; its entities tell where they are from. */
function modelAt(route: string, methods = [all(), one(), create(), remove()]): ModelClass {
  @rest({ route, methods, schemaOptions: { collection: encodeURIComponent(route) } })
  class Named extends FrameworkModel {
    @prop({ default: route })
    from?: string;
  }
  return Named;
}

/** Creates an entity at each route, and gives what `all()` and `one()` show of it. */
async function visit({ get, post, delete: remove }: Client, path: string): Promise<unknown[]> {
  const created = await post(path, {});
  const id = created.body._id;
  const listed = await get<{ _id: string; from: string }[]>(path);
  const single = await get<{ from: string }>(`${path}/${id}`);
  const removed = await remove(`${path}/${id}`);
  const found = listed.body.find(({ _id }) => _id === id)?.from;
  return [created.status, found, single.body.from, removed.status];
}

class Straße extends FrameworkModel {
  @prop()
  name?: string;
}

@rest({ route: "/städte", methods: [one(), create()] })
class Stadt extends FrameworkModel {
  @rest({ methods: [all(), create(), one()] })
  @arrayProp({ items: Straße, embedded: true })
  straßen?: Straße[];
}

test("a path with letters that URLs encode is reached", async () => {
  await using app = await mount([Stadt]);
  const made = await app.post("/städte", {});
  const location = made.headers.get("location");
  assertEquals([made.status, location], [201, `/st%C3%A4dte/${made.body._id}`]);
  const part = await app.post(`${location}/straßen`, { name: "Lange Gasse" });
  assertEquals(part.headers.get("location"), `${location}/stra%C3%9Fen/${part.body._id}`);
  assertEquals((await app.read(`${location}/straßen/${part.body._id}`)).name, "Lange Gasse");
  const paths = Framework.describe({ models: [Stadt] }).map(({ path }) => path);
  assertEquals(paths.at(-1), "/städte/:id/straßen/:subId");
});

test("initialize() reaches each of many models, whatever their paths share", async () => {
  const routes = [
    ...Array.from({ length: 40 }, (_, index) => `/models${index}`),
    "/models",
    "/models1/deeper",
    "/models1/deeper/still",
    "/a.b",
    "/a-b",
    "/~tilde",
    "/UPPER",
    "/größe/日本 語",
  ];
  await using app = await mount(routes.map((route) => modelAt(route)));
  for (const route of routes) {
    assertEquals(await visit(app, route), [201, route, route, 204], route);
  }
});

test("initialize() tells no upper from lower case, among few models and many", async () => {
  for (const count of [1, 2, 30]) {
    const routes = Array.from({ length: count }, (_, index) => `/Models${index}`);
    await using app = await mount(routes.map((route) => modelAt(route)));
    for (const path of ["/models0", "/MODELS0"]) {
      assertEquals(await visit(app, path), [201, "/Models0", "/Models0", 204]);
    }
    assertEquals((await app.get("/models0/")).status, 200);
    for (const other of ["/", "//models0", "/models", "/models00", "/models0/x/y", "/%ff", "/é"]) {
      assertEquals((await app.get(`${other}`)).status, 404, other);
    }
    assertEquals((await app.get("/models0/%ff")).status, 404);
  }
});

test("initialize() keeps its order where a route begins with a parameter", async () => {
  const routes = ["/:shelf/books", "/books", "/other", "/other/things"];
  await using app = await mount(routes.map((route) => modelAt(route)));
  assertEquals(await visit(app, "/any/books"), [201, "/:shelf/books", "/:shelf/books", 204]);
  assertEquals(await visit(app, "/books"), [201, "/books", "/books", 204]);
  assertEquals(await visit(app, "/other/things"), [
    ...[201, "/other/things", "/other/things", 204],
  ]);
});

test("OPTIONS names the verbs of a path, and nothing is done", async () => {
  const targets = [modelAt("/every", SIX), modelAt("/some", [one()]), modelAt("/more")];
  for (const models of [targets.slice(0, 1), targets]) {
    await using app = await mount(models);
    const { _id } = await getModel(targets[0] as ModelClass).create({});
    const allow = async (path: string) => {
      const { status, headers } = await app.send("OPTIONS", `${path}`);
      return [status, headers.get("allow")?.split(", ").sort().join(" ")];
    };
    assertEquals(await allow("/every"), [200, "DELETE GET HEAD POST"]);
    assertEquals(await allow(`/every/${_id}`), [200, "DELETE GET HEAD PATCH"]);
    assertEquals((await app.get(`/every/${_id}`)).status, 200);
  }
});

test("initialize() reaches many models under several mounts of one application", async () => {
  const routes = ["/one", "/two", "/three"];
  const models = routes.map((route) => modelAt(route));
  await using _database = await openDatabase();
  const app = express();
  app.use(express.json());
  app.use("/v1/:tenant", Framework.initialize({ models }));
  app.use(Framework.initialize({ models: models.slice(1) }));
  app.get("/one", (_req, res) => void res.json("the host's"));
  await using served = await serve(app);
  for (const route of routes) {
    assertEquals(await visit(client(`${served.url}/v1/ann`), route), [201, route, route, 204]);
  }
  assertEquals(await visit(client(served), "/two"), [201, "/two", "/two", 204]);
  assertEquals((await client(served).get("/one")).body, "the host's");
});
