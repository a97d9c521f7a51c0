import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import {
  create,
  type DateOnly,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  replace,
} from "../../mod.ts";
import { getModel, prop, type ReadOnly, rest, update, updateAll } from "../../mod.ts";
import { openapi } from "../../src/openapi/mod.ts";
import { type Plugin, RestError } from "../../src/plugin/mod.ts";
import { test } from "../harness/testing.ts";
import { pass } from "../support/both_paths.ts";
import { type Document, INFO, readDocument } from "../support/documented.ts";
import { onlyStrict } from "../support/only_strict.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount, start } from "../support/support.ts";
import { Assignee, Task, watching } from "./plugged.ts";

test("a parameter is described, accepted and read", async () => {
  const read: unknown[] = [];
  const plugin: Plugin = {
    name: "languages",
    parameters: { lang: { description: "The language.", schema: { enum: ["de", "en"] } } },
    async around(call, next) {
      read.push(call.parameter("lang"));
      await next();
    },
  };
  const options = { plugins: [plugin], strict: onlyStrict("parameters") };
  await using app = await mount([Assignee], options);
  assertEquals((await app.get("/people?lang=de")).status, 200);
  assertEquals((await app.get("/people?lang=de&lang=en")).status, 400);
  assertEquals((await app.get("/people?other=1")).status, 400);
  assertEquals(read, ["de", undefined]);
  const [list] = Framework.describe({ models: [Assignee], plugins: [plugin] });
  assertEquals(list?.parameters.some(({ name }) => name === "lang"), true);
  const parameter = (await documentWith(plugin)).operation("GET", "/people").parameters
    ?.find(({ name }) => name === "lang");
  assertEquals(parameter?.schema, { type: "string", enum: ["de", "en"] });
  assertEquals(parameter?.description, "The language.");
});

test("routes of plugins and batches take no undeclared parameter", async () => {
  const parameters = { lang: { description: "The language." } };
  const plugins: Plugin[] = [NAMES, { name: "languages", parameters }];
  const options = { plugins, batch: { path: "/batch" }, mongo: await sharedReplicaSet() };
  await using app = await mount([Assignee], { ...options, strict: onlyStrict("parameters") });
  const requests = { requests: [{ id: "a", method: "GET", path: "/people" }] };
  const statuses = async (query: string) => [
    (await app.get(`/names/a${query}`)).status,
    (await app.post(`/names${query}`, {})).status,
    (await app.post(`/batch${query}`, requests)).status,
  ];
  assertEquals(await statuses("?lang=de"), [200, 201, 200]);
  assertEquals(await statuses("?other=1"), [400, 400, 400]);
  const described = Framework.describe({ models: [Assignee], plugins })
    .find(({ path }) => path === "/names/:id");
  assertEquals(described?.parameters, [
    { name: "id", in: "path", required: true },
    { name: "lang", in: "query", required: false },
  ]);
  const [plugin] = plugins.slice(1);
  const document = await documentWith({ ...plugin, ...NAMES, parameters });
  assertEquals(
    document.operation("GET", "/names/{id}").parameters?.map(({ name }) => name),
    ["id", "lang"],
  );
});

test("routes of plugins need a guard as others do", () => {
  const options = { models: [Assignee], plugins: [NAMES], strict: onlyStrict("guards") };
  const start = (more: object = {}) => Framework.initialize({ ...options, ...more });
  const { message } = assertThrows(() => start(), TypeError);
  const lines = message.split("\n").filter((line) => line.includes("plugin"));
  assertEquals(
    lines,
    ["GET /names/:id", "DELETE /names/:id"].map((route) =>
      `${route} of the plugin "names": nobody guards it: use "guard" of initialize(), or "open: true"`
    ),
  );
  start({ guard: () => true });
});

async function documentWith(plugin: Plugin) {
  const api = Framework.initialize({ models: [Assignee], plugins: [plugin] });
  const app = express();
  app.use(api, openapi(api, { info: INFO }));
  const served = await start(app);
  const document = await served.read<Document>("/openapi.json");
  await served.stop();
  return readDocument(document);
}

test("values are stored in declared fields with each write, and clients cannot set them", async () => {
  const plugin: Plugin = {
    name: "values",
    admit: (req) => ({ via: String(req.headers["x-via"]) }),
    values: {
      fields: ["via"],
      of: ({ via, isNew, model }) => ({ via: `${model} ${via} ${isNew}` }),
    },
  };
  const mongo = await sharedReplicaSet();
  await using app = await mount([Task, Assignee], { mongo, plugins: [plugin] });
  const by = (via: string) => ({ headers: { "x-via": via } });
  const task = await app.created("/tasks", { name: "a", via: "mine" }, by("k1"));
  assertEquals(task.via, "Task k1 true");
  const changed = await app.updated(`/tasks/${task._id}`, { name: "b" }, by("k2"));
  assertEquals(changed.via, "Task k2 false");
  const person = await app.created("/people", { name: "Ada" }, by("k1"));
  assertEquals("via" in person, false);
});

test("a PUT stores the values of a change in an entity that exists, and those of a creation else", async () => {
  const plugin: Plugin = {
    name: "values",
    values: {
      fields: ["first", "last"],
      of: ({ isNew }) => isNew ? { first: "put", last: "put" } : { last: "again" },
    },
  };
  @rest({ route: "/crates", methods: [replace()] })
  class Crate extends FrameworkModel {
    @prop({ readonly: true })
    first?: string;
    @prop()
    last?: string;
  }
  await using app = await mount([Crate], { plugins: [plugin] });
  const path = "/crates/0123456789abcdef01234567";
  const put = async () => {
    const { status, body: { first, last } } = await app.put(path, {});
    return [status, first, last];
  };
  assertEquals(await put(), [201, "put", "put"]);
  assertEquals(await put(), [200, "put", "again"]);
});

@rest({ route: "/plain-days", methods: [create(), update()] })
@rest({
  route: "/hooked-days",
  methods: [create({ preSave: pass }), update({ preSave: pass })],
})
class Opening extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ type: Date, dateOnly: true, readonly: true })
  readonly day?: ReadOnly<DateOnly>;
}

@rest({ route: "/plain-ways", methods: [create(), update(), updateAll({ fields: ["name"] })] })
@rest({
  route: "/hooked-ways",
  methods: [create({ preSave: pass }), update({ preSave: pass })],
})
class Way extends FrameworkModel {
  @prop()
  name?: string;
  @prop({ required: true, enum: ["web", "mail"], readonly: true })
  readonly via?: ReadOnly<string>;
}

test("a value that a rule of its field refuses is a 500, with hooks and without", async () => {
  let via: string | null | undefined;
  const told: unknown[] = [];
  const plugins = [{ name: "v", values: { fields: ["via"], of: () => ({ via }) } }];
  const onError = (_req: unknown, error: unknown) => void told.push(error);
  await using app = await mount([Way], { plugins, onError });
  const stored = () => getModel(Way).collection.distinct("via");
  for (const route of ["/plain-ways", "/hooked-ways"]) {
    via = "web";
    const { _id } = await app.created(route, {});
    for (via of ["fax", null, undefined]) {
      assertEquals((await app.post(route, {})).status, 500);
      assertEquals((await app.patch(`${route}/${_id}`, { name: "a" })).status, 500);
      assertEquals((await app.patch("/plain-ways?q={}", { name: "a" })).status, 500);
      assertEquals(await stored(), ["web"]);
    }
  }
  assertStringIncludes(String(told[0]), 'Cannot store "via": the value of "v" breaks its "enum"');
  assertStringIncludes(String(told.at(-1)), 'breaks its "required"');
});

test("a time for a field with dateOnly is stored as midnight, with hooks and without", async () => {
  const of = () => ({ day: new Date("2026-01-02T15:00:00Z") });
  await using app = await mount([Opening], {
    plugins: [{ name: "v", values: { fields: ["day"], of } }],
  });
  const { collection } = getModel(Opening);
  for (const route of ["/plain-days", "/hooked-days"]) {
    const { _id, day } = await app.created(route, {});
    assertEquals([day, await collection.distinct("day")], ["2026-01-02", [new Date("2026-01-02")]]);
    await collection.updateMany({}, { $unset: { day: 1 } });
    await app.updated(`${route}/${_id}`, { name: "a" });
    assertEquals(await collection.distinct("day"), [new Date("2026-01-02")]);
    await collection.deleteMany({});
  }
});

for (
  const [what, of] of [
    ["of a field that the plugin does not name", () => ({ name: "x" })],
    ["in a promise", () => Promise.resolve({ via: "x" }) as never],
    ["without an object", () => undefined as never],
  ] as const
) {
  test(`a value ${what} is an error, and nothing is stored`, async () => {
    const plugin: Plugin = { name: "v", values: { fields: ["via"], of } };
    const options = { mongo: await sharedReplicaSet(), plugins: [plugin], onError: () => {} };
    await using app = await mount([Task, Assignee], options);
    assertEquals((await app.post("/tasks", { name: "a" })).status, 500);
    assertEquals((await app.get("/tasks")).body, []);
  });
}

test("a field that no class declares fails the start", () => {
  const plugin: Plugin = { name: "v", values: { fields: ["nope"], of: () => ({}) } };
  const start = () => Framework.initialize({ models: [Assignee], plugins: [plugin] });
  assertThrows(start, TypeError, `the plugin "v" sets "nope", which no class declares`);
});

const NAMES: Plugin = {
  name: "names",
  routes: [
    {
      method: "GET",
      path: "/names/:id",
      operation: "one",
      summary: "Read a name",
      answer: { type: "object" },
      run({ params: { id }, actor, setHeader }) {
        if (id === "none") throw new RestError(404, "No such name");
        setHeader("Cache-Control", "no-store");
        return { id, actor };
      },
    },
    {
      method: "POST",
      path: "/names",
      operation: "create",
      summary: "Add a name",
      body: { type: "object", properties: { name: { type: "string" } } },
      answer: { type: "object" },
      status: 201,
      open: true,
      run: ({ body }) => ({ got: body }),
    },
    {
      method: "DELETE",
      path: "/names/:id",
      operation: "remove",
      summary: "Remove a name",
      run: () => undefined,
    },
  ],
};

const guard = (req: FrameworkRequest) => req.headers["x-user"] === "ann";

const ANN = { headers: { "x-user": "ann" } };

test("routes answer behind the guard, with and without a body", async () => {
  await using app = await mount([Assignee], { plugins: [NAMES], guard, actor: () => "ann" });
  assertEquals((await app.get("/names/a")).status, 403);
  const found = await app.get("/names/a", ANN);
  assertEquals([found.status, found.body], [200, { id: "a", actor: "ann" }]);
  assertEquals(found.headers.get("cache-control"), "no-store");
  assertEquals((await app.get("/names/none", ANN)).status, 404);
  const created = await app.post<unknown>("/names", { name: "b" });
  assertEquals([created.status, created.body], [201, { got: { name: "b" } }]);
  assertEquals((await app.post<unknown>("/names", undefined)).body, {});
  assertEquals((await app.send("POST", "/names", { raw: "[" })).status, 415);
  assertEquals((await app.post("/names", [])).status, 400);
  const removed = await app.delete("/names/a", ANN);
  assertEquals([removed.status, removed.text], [204, ""]);
});

test("around runs for the routes of plugins too", async () => {
  const { plugin, calls } = watching();
  await using app = await mount([Assignee], { plugins: [NAMES, plugin] });
  await app.get("/names/a");
  await app.post("/names", {});
  assertEquals(calls.map(({ model, needs }) => [model, needs]), [
    ["names", ["names:one"]],
    ["names", ["names:create"]],
  ]);
});

test("routes are described, in the document too", async () => {
  const described = Framework.describe({ models: [Assignee], plugins: [NAMES] })
    .filter(({ model }) => model === "names")
    .map(({ method, path, status, access }) => [method, path, status, access]);
  assertEquals(described, [
    ["GET", "/names/:id", 200, ["everybody"]],
    ["POST", "/names", 201, ["everybody"]],
    ["DELETE", "/names/:id", 204, ["everybody"]],
  ]);
  const { document, operation } = await documentWith(NAMES);
  assertEquals(operation("GET", "/names/{id}").parameters?.map(({ name }) => name), ["id"]);
  assertEquals(operation("DELETE", "/names/{id}").tags, ["Names"]);
  assertEquals(Object.keys(operation("DELETE", "/names/{id}").responses), ["204", "4XX"]);
  assertEquals(operation("POST", "/names").requestBody !== undefined, true);
  assertEquals(JSON.stringify(document).includes("/:"), false);
});

test("a security scheme of a plugin is one way to call the API", async () => {
  const scheme = { type: "apiKey", in: "header", name: "X-Key" };
  const { document } = await documentWith({ name: "s", securitySchemes: { key: scheme } });
  assertEquals(Reflect.get(document, "security"), [{}, { key: [] }]);
  assertEquals(Reflect.get(document.components, "securitySchemes"), { key: scheme });
});

test("an operation of the list is deprecated in descriptions", async () => {
  const plugin: Plugin = { name: "d", deprecated: ({ name }) => name === "people:create" };
  const routes = Framework.describe({ models: [Assignee], plugins: [plugin] });
  assertEquals(routes.filter(({ deprecated }) => deprecated).map(({ operation }) => operation), [
    "create",
  ]);
  const { operation } = await documentWith(plugin);
  assertEquals(Reflect.get(operation("POST", "/people"), "deprecated"), true);
  assertEquals(Reflect.get(operation("GET", "/people"), "deprecated"), undefined);
  const own = { ...NAMES, deprecated: ({ name }: { name: string }) => name === "names:remove" };
  const document = await documentWith(own);
  const ofNames = (method: string, path: string) =>
    Reflect.get(document.operation(method, path), "deprecated");
  assertEquals([ofNames("DELETE", "/names/{id}"), ofNames("POST", "/names")], [true, undefined]);
});

test("jobs run by Framework.tidy(), and their failure stops no other job", async () => {
  const ran: string[] = [];
  const job = (name: string, count: number) => ({
    name,
    run(at: Date) {
      ran.push(`${name} ${at.toISOString()}`);
      if (count < 0) throw new Error(`no ${name}`);
      return Promise.resolve(count);
    },
  });
  const jobs = [job("first", -1), job("second", 3)];
  await using _app = await mount([Assignee], { plugins: [{ name: "jobs", jobs }], tidy: false });
  const at = new Date(0);
  const error = await Framework.tidy({ at }).catch((thrown) => thrown);
  assertEquals(String(error.cause), "Error: no first");
  assertEquals(ran, ["first 1970-01-01T00:00:00.000Z", "second 1970-01-01T00:00:00.000Z"]);
  jobs.shift();
});

test("a wrong plugin is refused at start-up", () => {
  const run = () => undefined;
  const route = { method: "GET", path: "/x", operation: "x", summary: "X", run } as const;
  const wrong: [unknown, string][] = [
    [{}, `without a "name"`],
    [{ name: "a", arround: run }, `has no part "arround"`],
    [{ name: "a", admit: 1 }, `"admit" is not a function`],
    [{ name: "a", parameters: { q: { description: "" } } }, `the parameter "q", which is taken`],
    [{ name: "a", parameters: { sort: { description: "" } } }, `"sort", which is taken`],
    [{ name: "a", parameters: { x: {} } }, `needs a "description" of its parameter "x"`],
    [{ name: "a", values: {} }, `needs "fields" and "of"`],
    [{ name: "a", routes: [{ ...route, path: "x" }] }, `needs a path`],
    [{ name: "a", routes: [{ ...route, run: undefined }] }, `needs "run"`],
    [{ name: "a", routes: [route, route] }, `the path /x of "a" is taken`],
    [{ name: "a", routes: [{ ...route, path: "/people" }] }, `the path /people of "a" is taken`],
    [{ name: "a", jobs: [{}] }, `needs "name" and "run"`],
  ];
  for (const [plugin, message] of wrong) {
    const plugins = [plugin] as Plugin[];
    assertThrows(() => Framework.initialize({ models: [Assignee], plugins }), TypeError, message);
  }
  const twice = { models: [Assignee], plugins: [{ name: "a" }, { name: "a" }] };
  assertThrows(() => Framework.initialize(twice), TypeError, "is twice in the list");
});

test("a start tells of all wrong plugins and routes at once", () => {
  const route = { method: "GET", path: "x", operation: "x", summary: "X" };
  const plugins = [{ name: "a", routes: [route, { ...route, path: "/y" }] }, { name: "b", on: 1 }];
  const error = assertThrows(
    () => Framework.initialize({ models: [Assignee], plugins: plugins as never }),
    TypeError,
  );
  assertEquals(error.message.split("\n").slice(1), [
    'Cannot initialize: the plugin "a" needs a path such as "/name/:id", in its route x',
    'Cannot initialize: the plugin "a" needs "run", in its route /y',
    'Cannot initialize: the plugin "b" has no part "on"',
  ]);
});

test("a plugin learns all operations at the start", () => {
  const names: string[] = [];
  const start: Plugin["start"] = ({ operations }) => {
    names.push(...operations.map(({ name }) => name));
  };
  Framework.initialize({ models: [Assignee], plugins: [{ name: "names", start }] });
  assertEquals(names, ["people:all", "people:create", "people:one"]);
});
