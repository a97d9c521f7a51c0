import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  getModel,
  type ModelClass,
  one,
  prop,
  remove,
  removeAll,
  rest,
  update,
} from "../mod.ts";
import { openDatabase } from "./harness/database.ts";
import { request } from "./harness/request.ts";
import { serve } from "./harness/serve.ts";
import { test } from "./harness/testing.ts";
import { mount } from "./support.ts";

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
async function visit(url: string, path: string): Promise<unknown[]> {
  const created = await request<{ _id: string }>(`${url}${path}`, { method: "POST", body: {} });
  const id = created.body._id;
  const listed = await request<{ _id: string; from: string }[]>(`${url}${path}`);
  const single = await request<{ from: string }>(`${url}${path}/${id}`);
  const removed = await request(`${url}${path}/${id}`, { method: "DELETE" });
  const found = listed.body.find(({ _id }) => _id === id)?.from;
  return [created.status, found, single.body.from, removed.status];
}

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
  ];
  await using app = await mount(routes.map((route) => modelAt(route)));
  for (const route of routes) {
    assertEquals(await visit(app.url, route), [201, route, route, 204], route);
  }
});

test("initialize() tells no upper from lower case, among few models and many", async () => {
  for (const count of [1, 2, 30]) {
    const routes = Array.from({ length: count }, (_, index) => `/Models${index}`);
    await using app = await mount(routes.map((route) => modelAt(route)));
    for (const path of ["/models0", "/MODELS0"]) {
      assertEquals(await visit(app.url, path), [201, "/Models0", "/Models0", 204]);
    }
    assertEquals((await request(`${app.url}/models0/`)).status, 200);
    for (const other of ["/", "//models0", "/models", "/models00", "/models0/x/y", "/%ff", "/é"]) {
      assertEquals((await request(`${app.url}${other}`)).status, 404, other);
    }
    assertEquals((await request(`${app.url}/models0/%ff`)).status, 404);
  }
});

test("initialize() keeps its order where a route begins with a parameter", async () => {
  const routes = ["/:shelf/books", "/books", "/other", "/other/things"];
  await using app = await mount(routes.map((route) => modelAt(route)));
  assertEquals(await visit(app.url, "/any/books"), [201, "/:shelf/books", "/:shelf/books", 204]);
  assertEquals(await visit(app.url, "/books"), [201, "/books", "/books", 204]);
  assertEquals(await visit(app.url, "/other/things"), [
    ...[201, "/other/things", "/other/things", 204],
  ]);
});

test("OPTIONS names the verbs of a path, and nothing is done", async () => {
  const everything = [all(), one(), create(), update(), remove(), removeAll()];
  const targets = [modelAt("/every", everything), modelAt("/some", [one()]), modelAt("/more")];
  for (const models of [targets.slice(0, 1), targets]) {
    await using app = await mount(models);
    const { _id } = await getModel(targets[0] as ModelClass).create({});
    const allow = async (path: string) => {
      const { status, headers } = await request(`${app.url}${path}`, { method: "OPTIONS" });
      return [status, headers.get("allow")?.split(", ").sort().join(" ")];
    };
    assertEquals(await allow("/every"), [200, "DELETE GET HEAD POST"]);
    assertEquals(await allow(`/every/${_id}`), [200, "DELETE GET HEAD PATCH"]);
    assertEquals((await request(`${app.url}/every/${_id}`)).status, 200);
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
    assertEquals(await visit(`${served.url}/v1/ann`, route), [201, route, route, 204]);
  }
  assertEquals(await visit(served.url, "/two"), [201, "/two", "/two", 204]);
  assertEquals((await request(`${served.url}/one`)).body, "the host's");
});
