// Runs alone: it mounts every model that is registered.
import { assert, assertEquals, assertMatch, assertStringIncludes, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import {
  all,
  arrayProp,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  type InitializeOptions,
  type ModelClass,
  one,
  remove,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { openDatabase } from "../harness/database.ts";
import { test } from "../harness/testing.ts";
import { mount, start } from "../support/support.ts";

type Json = Record<string, unknown>;

const EVERY = [all(), one(), create(), update(), remove(), removeAll()];
const NO_ID = "0".repeat(24);

@rest({ route: "/things", methods: EVERY })
class Thing extends Named {}

@rest({ route: "/reads", methods: [all()] })
class Read extends Named {}

// Mounting

test("initialize() mounts every registered model, in an application that names none", async () => {
  await using _database = await openDatabase();
  const app = express();
  app.use(Framework.initialize());
  await using api = await start(app);
  for (const route of ["things", "reads"]) {
    const { status, body } = await api.get(`/${route}`);
    assertEquals([status, body], [200, []]);
  }
});

test("initialize() with models mounts those, and no other", async () => {
  await using app = await mount([Read]);
  assertEquals((await app.get("/reads")).status, 200);
  assertEquals((await app.get("/things")).status, 404);
});

test("initialize() serves under the path at which it is mounted, several times over", async () => {
  await using _database = await openDatabase();
  const app = express();
  app.use("/v1/api", express.json(), Framework.initialize({ models: [Thing] }));
  app.use("/v2", express.json(), Framework.initialize({ models: [Thing, Read] }));
  await using api = await start(app);
  const made = await api.post<{ _id: string }>("/v1/api/things?a=b", { name: "a" });
  const { _id } = made.body;
  assertEquals(made.headers.get("location"), `/v1/api/things/${_id}`);
  assertEquals((await api.get(`/v2/things/${_id}`)).body, made.body);
  const paths = ["/things", "/v1/things", "/v1/api/reads", "/v2/reads"];
  const statuses = await Promise.all(paths.map((path) => api.get(path)));
  assertEquals(statuses.map(({ status }) => status), [404, 404, 404, 200]);
});

test("initialize() merges the parameters of the path at which it is mounted", async () => {
  const own = (req: FrameworkRequest): boolean => {
    req.framework.filter.name = req.params.owner;
    return req.params.room === "5";
  };
  @rest({ route: "/rooms/:room/owned", methods: [all({ preFetch: own }), create()] })
  class Owned extends Named {}
  await using app = await mount([Owned], { at: "/users/:owner" });
  for (const name of ["ada", "bob"]) {
    const path = `/users/${name}/rooms/5/owned`;
    const { body, headers } = await app.post<Json>(path, { name });
    assertEquals(headers.get("location"), `/users/${name}/rooms/5/owned/${body._id}`);
  }
  const reply = await app.get<Json[]>("/users/bob/rooms/5/owned");
  assertEquals(reply.body.map(({ name }) => name), ["bob"]);
  assertEquals((await app.get("/users/bob/rooms/6/owned")).status, 403);
});

test("initialize() gives hooks the response as req.res, and the operation", async () => {
  const seen: string[] = [];
  const look = (req: FrameworkRequest): boolean => {
    seen.push(req.framework.operation);
    req.res?.setHeader("X-Seen", String(seen.length));
    return true;
  };
  const hooks = { preFetch: look };
  @rest({
    route: "/looked",
    methods: [
      all(hooks),
      one(hooks),
      create(hooks),
      update(hooks),
      remove(hooks),
      removeAll(hooks),
    ],
  })
  class Looked extends FrameworkModel {}
  await using app = await mount([Looked]);
  const path = "/looked";
  assertEquals((await app.get(path)).headers.get("x-seen"), "1");
  await app.get(`${path}/${NO_ID}`);
  await app.post(path, {});
  await app.patch(`${path}/${NO_ID}`, {});
  await app.delete(`${path}/${NO_ID}`);
  await app.delete(path);
  assertEquals(seen, ["all", "one", "create", "update", "remove", "removeAll"]);
});

test("initialize() mounts each operation at its method and path, and nothing else", async () => {
  const paths: Record<string, [method: string, path: string]> = {
    all: ["GET", ""],
    one: ["GET", `/${NO_ID}`],
    create: ["POST", ""],
    update: ["PATCH", `/${NO_ID}`],
    remove: ["DELETE", `/${NO_ID}`],
    removeAll: ["DELETE", ""],
  };
  for (const method of EVERY) {
    @rest({ route: "/single", methods: [method] })
    class Single extends FrameworkModel {}
    await using app = await mount([Single]);
    for (const [name, [verb, path]] of Object.entries(paths)) {
      const sends = verb === "POST" || verb === "PATCH" ? { body: {} } : {};
      const { status, body } = await app.send(verb, `/single${path}`, sends);
      const isOurs = typeof body === "object" || status < 300;
      assertEquals([method.operation, name, isOurs], [
        method.operation,
        name,
        name === method.operation,
      ]);
    }
  }
});

test("initialize() leaves what is not generated to the host: its 404, its other routes", async () => {
  await using app = await mount([Read]);
  const requests: [string, string][] = [
    ["GET", `/reads/${NO_ID}`],
    ["DELETE", "/reads"],
    ["PUT", "/reads"],
    ["GET", "/other"],
    ["GET", "/reads/a/b"],
  ];
  for (const [method, path] of requests) {
    const { status, text, headers } = await app.send(method, path);
    assertEquals(status, 404);
    assertMatch(text, new RegExp(`Cannot ${method} ${path}`));
    assertStringIncludes(headers.get("content-type") ?? "", "text/html");
  }
});

test("initialize() leaves the host's routes beside it alone, before and after", async () => {
  await using _database = await openDatabase();
  const app = express();
  app.get("/reads/count", (_req, res) => void res.json("before"));
  app.use(Framework.initialize({ models: [Read] }));
  app.get("/reads/:id", (_req, res) => void res.json("after"));
  app.use((_req, res) => void res.status(404).json("host"));
  await using api = await start(app);
  const bodies = await Promise.all(
    ["/reads", "/reads/count", "/reads/5", "/none"].map((path) => api.get(path)),
  );
  assertEquals(bodies.map(({ body }) => body), [[], "before", "after", "host"]);
});

test("initialize() with a route of one slash serves the mount itself", async () => {
  @rest({ route: "/", methods: EVERY })
  class Root extends Named {}
  await using app = await mount([Root], { at: "/roots" });
  const made = await app.post<{ _id: string }>("/roots", {});
  assertEquals(made.headers.get("location"), `/roots/${made.body._id}`);
  assertEquals((await app.get(`/roots/${made.body._id}`)).body, made.body);
  assertEquals((await app.get("/roots/")).body, [made.body]);
});

test("initialize() takes a slash at the end of a route and of a request for nothing", async () => {
  @rest({ route: "/slashes/", methods: [all(), create()] })
  class Slash extends FrameworkModel {}
  await using app = await mount([Slash]);
  const made = await app.post<Json>("/slashes/", {});
  assertEquals(made.headers.get("location"), `/slashes/${made.body._id}`);
  assertEquals((await app.get("/slashes")).body, [made.body]);
});

// Order and overlap

test("initialize() lets no /:id take what another model serves, in any order", async () => {
  @rest({ route: "/films", methods: EVERY })
  class Film extends FrameworkModel {}
  const give = (name: string) => ({ fetch: () => [{ name }] });
  @rest({ route: "/films/top", methods: [all(give("top")), one(give("one"))] })
  class Top extends Named {}
  @rest({ route: "/films/:kind/best", methods: [all(give("best"))] })
  class Best extends Named {}
  for (const models of [[Film, Top, Best], [Best, Top, Film], [Top, Best, Film]]) {
    await using app = await mount(models);
    const bodies = await Promise.all(
      ["/films/top", "/films/top/5", "/films/top/best", "/films/x/best"].map((path) =>
        app.get(path)
      ),
    );
    assertEquals(bodies[0]?.body, [{ name: "top" }]);
    assertEquals(bodies[1]?.body, { name: "one" });
    assertEquals(bodies[3]?.body, [{ name: "best" }]);
    assertEquals((await app.get(`/films/${NO_ID}`)).status, 404);
  }
});

// Start-up errors

/** Declares a model past the compiler, as JavaScript would. */
function declare(options: object): ModelClass {
  const decorate = (rest as CallableFunction)(options);
  @decorate
  class Wrong extends FrameworkModel {}
  return Wrong;
}

/** Declarations that cannot be mounted, and what their error names. */
const WRONG: Record<string, [options: object, ...parts: string[]]> = {
  "a route without a leading slash": [{ route: "things", methods: [all()] }, `"things"`, `"/"`],
  "an empty route": [{ route: "", methods: [all()] }, "route", `"/"`],
  "no route": [{ methods: [all()] }, `@rest of a class needs a route, such as "/movies"`],
  "a misspelled route": [{ rout: "/w", methods: [all()] }, `@rest has no option "rout"`],
  "misspelled methods": [{ route: "/w", method: [all()] }, `@rest has no option "method"`],
  "a route that is no text": [{ route: 5, methods: [all()] }, "route"],
  "a route with the parameter id": [{ route: "/a/:id/b", methods: [all()] }, `"id"`],
  "a route that the host cannot read": [{ route: "/a/*", methods: [all()] }, `/a/*`],
  "no operation": [{ route: "/w", methods: [] }, `"methods"`],
  "no methods": [{ route: "/w" }, `"methods"`],
  "methods that are no list": [{ route: "/w", methods: all() }, `"methods"`],
  "an operation that is not called": [{ route: "/w", methods: [all] }, `"methods"`],
  "an operation that there is not": [
    { route: "/w", methods: [{ operation: "toString", hooks: {} }] },
    `"methods"`,
  ],
  "an operation that is nothing": [{ route: "/w", methods: [undefined] }, `"methods"`],
  "the same operation twice": [{ route: "/w", methods: [all(), one(), all()] }, "GET /w"],
  "a hook that there is not": [
    { route: "/w", methods: [all({ postFech: () => null } as object)] },
    `"postFech"`,
    "all()",
  ],
  "a hook that is not a function": [
    { route: "/w", methods: [create({ preSave: "x" } as object)] },
    `"preSave"`,
    "create()",
  ],
  "a scope that is not a function": [{ route: "/w", methods: [all()], scope: {} }, `"scope"`],
  "an option of @rest that there is not": [
    { route: "/w", methods: [all()], scop: () => ({}) },
    `@rest has no option "scop"`,
  ],
  "a getConnection that is not a function": [
    { route: "/w", methods: [all()], getConnection: mongoose.connection },
    `"getConnection"`,
  ],
};

for (const [what, [options, ...parts]] of Object.entries(WRONG)) {
  Deno.test(`initialize() refuses ${what}, and names the class`, () => {
    const start = () => Framework.initialize({ models: [declare(options)] });
    const { message } = assertThrows(start, TypeError);
    assert(message.startsWith("Cannot "), message);
    for (const part of [`"Wrong"`, ...parts]) assertStringIncludes(message, part);
  });
}

Deno.test("initialize() refuses to start without a model, and with one that has no route", () => {
  class Bare extends FrameworkModel {}
  for (const models of [[], [Bare], [undefined], [class Plain {}]] as unknown as ModelClass[][]) {
    const { message } = assertThrows(() => Framework.initialize({ models }), TypeError);
    assertMatch(message, /^Cannot .*("Bare"|"Plain"|model)/);
  }
});

Deno.test("initialize() refuses a scope of a property that is not a function", () => {
  class Part extends FrameworkModel {}
  @rest({ route: "/wholes", methods: [one()] })
  class Whole extends FrameworkModel {
    @rest({ methods: [all()], scope: {} as never })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  assertThrows(
    () => Framework.initialize({ models: [Whole] }),
    TypeError,
    `Cannot mount "Whole": "scope" of property "parts" is not a function`,
  );
});

Deno.test("initialize() refuses an option of a property that there is not", () => {
  class Part extends FrameworkModel {}
  const common = { methods: [all()], scop: () => ({}) };
  @rest({ route: "/wholes", methods: [one()] })
  class Whole extends FrameworkModel {
    @rest({ ...common })
    @arrayProp({ items: Part, embedded: true })
    parts?: Part[];
  }
  assertThrows(
    () => Framework.initialize({ models: [Whole] }),
    TypeError,
    `Cannot mount "Whole": @rest of property "parts" has no option "scop"`,
  );
});

Deno.test("initialize() refuses options that there are not, and models that are no list", () => {
  for (
    const [options, problem] of [
      [
        { models: [Thing], maxTimeMs: 5 },
        `there is no option "maxTimeMs"`,
      ],
      [
        { models: [Thing], queryLimits: {} },
        `there is no option "queryLimits", which is now "limits.query"`,
      ],
      [
        { models: [Thing], maxTimeMS: 5 },
        `there is no option "maxTimeMS", which is now "limits.timeMS"`,
      ],
      [[Thing], `there is no option "0"`],
      [{ models: Thing }, `"models" is not a list`],
      [
        { models: [undefined] },
        `"models" contains undefined. A circular import is the usual cause`,
      ],
    ] as [object, string][]
  ) {
    assertThrows(() => Framework.initialize(options), TypeError, `Cannot initialize: ${problem}`);
  }
});

test("initialize() and errors() that are mounted without a call end each request with the reason", async () => {
  for (const name of ["initialize", "errors"] as const) {
    const app = express();
    app.use(Framework[name] as never);
    const told: unknown[] = [];
    app.use(
      ((error, _req, res, _next) => {
        told.push(error);
        res.status(500).end();
      }) as express.ErrorRequestHandler,
    );
    await using api = await start(app);
    assertEquals((await api.get("/things")).status, 500);
    assertStringIncludes(String(told[0]), `app.use(Framework.${name}())`);
  }
});

Deno.test("initialize() refuses a limit that there is not", () => {
  for (
    const limits of [{ limits: { query: { maxdepth: 1 } } }, {
      limits: { body: { maxkeys: 1 } },
    }] as object[]
  ) {
    const start = () => Framework.initialize({ ...limits, models: [Thing] });
    assertThrows(start, TypeError, "there is no limit");
  }
});

Deno.test("initialize() refuses one operation twice on one path, and names both classes", () => {
  @rest({ route: "/taken", methods: [all(), one()] })
  class First extends FrameworkModel {}
  @rest({ route: "/Taken/", methods: [create(), one()] })
  class Second extends FrameworkModel {}
  @rest({ route: "/taken", methods: [create()] })
  class Third extends FrameworkModel {}
  @rest({ route: "/:kind", methods: [all()] })
  class Kind extends FrameworkModel {}
  @rest({ route: "/:sort", methods: [all()] })
  class Sort extends FrameworkModel {}
  @rest({ route: "/", methods: [one()] })
  class Root extends FrameworkModel {}
  for (const models of [[First, Second], [Kind, Sort], [Kind, Root]] as ModelClass[][]) {
    const { message } = assertThrows(() => Framework.initialize({ models }), TypeError);
    for (const { name } of models) assertStringIncludes(message, `"${name}"`);
  }
  Framework.initialize({ models: [First, Third] });
});

Deno.test("initialize() refuses options that make no sense", () => {
  const wrong: InitializeOptions[] = [
    { limits: { timeMS: 0 } },
    { limits: { timeMS: -1 } },
    { limits: { timeMS: 1.5 } },
    { limits: { timeMS: Infinity } },
    { limits: { timeMS: NaN } },
    { limits: { timeMS: 2 ** 31 } },
    ...[0, -1, 1.5, Infinity, 2 ** 31].map((sendTimeoutMS) => ({
      limits: { sendMS: sendTimeoutMS },
    })),
    { limits: { query: { maxDepth: 0 } } },
    { limits: { query: { maxList: -5 } } },
    { limits: { query: { maxClauses: NaN } } },
    { limits: { query: { maxRegex: 1.5 } } },
  ];
  for (const options of wrong) {
    assertThrows(
      () => Framework.initialize({ models: [Thing], ...options }),
      RangeError,
      "Cannot ",
    );
  }
});

Deno.test("initialize() changes none of its options", () => {
  const options = Object.freeze({
    models: Object.freeze([Thing]),
    limits: { timeMS: 5, query: Object.freeze({ maxDepth: 2 }) },
  });
  Framework.initialize(options);
});

// HEAD

test("initialize() answers HEAD like GET, without a body", async () => {
  await using app = await mount([Thing]);
  const { _id } = await app.created("/things", { name: "a" });
  for (const path of ["/things", `/things/${_id}`, `/things/${NO_ID}`, "/things?q={"]) {
    const get = await app.get(path);
    const head = await app.send("HEAD", path);
    assertEquals([head.status, head.text], [get.status, ""]);
    const type = head.headers.get("content-type");
    assertEquals([path, type], [path, get.headers.get("content-type")]);
  }
});

test("initialize() answers HEAD of a long list, and of the lists after it", async () => {
  await using app = await mount([Thing]);
  const name = "a".repeat(2000);
  const docs = Array.from({ length: 200 }, () => ({ name }));
  await app.database.connection.collection("things").insertMany(docs);
  for (const method of ["HEAD", "GET", "HEAD"]) {
    const { status, text } = await app.send(method, "/things");
    assertEquals([status, text.length > 400_000], [200, method === "GET"]);
  }
});

// Framework.errors()

/** An application whose parser, routes and own middleware may fail. */
function failing(): express.Express {
  const app = express();
  app.use(express.json({ limit: 100 }));
  app.use(Framework.initialize({ models: [Thing] }));
  app.get("/crash", () => {
    throw new Error("The password is x");
  });
  app.get("/text", () => {
    return Promise.reject("The password is x");
  });
  app.get("/rest", () => {
    throw new RestError(418, { code: "TEAPOT" }, { headers: { "X-Tea": "green" } });
  });
  app.get("/status", () => {
    throw Object.assign(new Error("Pay first"), { status: 402, expose: true });
  });
  app.get("/secret", () => {
    throw Object.assign(new Error("The password is x"), { status: 402, expose: false });
  });
  app.get("/late", (_req, res) => {
    res.write("half");
    throw new Error("Too late");
  });
  app.use(Framework.errors());
  return app;
}

test("errors() answers what fails outside the router in the framework's form", async () => {
  using log = stub(console, "error");
  await using _database = await openDatabase();
  await using api = await start(failing());
  const expected: [string, number, Json][] = [
    ["/rest", 418, { code: "TEAPOT" }],
    ["/status", 402, { code: "PAYMENT_REQUIRED", message: "Pay first" }],
    ["/crash", 500, { code: "INTERNAL", message: "Internal error" }],
    ["/text", 500, { code: "INTERNAL", message: "Internal error" }],
    ["/secret", 402, { code: "PAYMENT_REQUIRED", message: "Payment Required" }],
  ];
  for (const [path, status, body] of expected) {
    const reply = await api.get<Json>(path);
    assertEquals([path, reply.status, reply.body], [path, status, body]);
    assertEquals(reply.headers.get("content-type"), "application/json; charset=utf-8");
  }
  assertEquals((await api.get("/rest")).headers.get("x-tea"), "green");
  assertEquals(log.calls.length, 3);
});

test("errors() answers malformed JSON and a body over the limit", async () => {
  await using _database = await openDatabase();
  await using api = await start(failing());
  const headers = { "content-type": "application/json" };
  const send = (raw: string) => api.send<Json>("POST", "/things", { raw, headers });
  const malformed = await send("{");
  assertEquals([malformed.status, malformed.body.code], [400, "BAD_FORMAT"]);
  const large = await send(JSON.stringify({ name: "a".repeat(200) }));
  assertEquals(large.status, 413);
  assertMatch(String(large.body.code), /^(CONTENT|PAYLOAD)_TOO_LARGE$/);
  const array = await send("[]");
  assertEquals([array.status, array.body.code], [400, "BAD_FORMAT"]);
});

test("errors() leaves an answer that has begun to the host, who ends it", async () => {
  using _log = stub(console, "error");
  await using _database = await openDatabase();
  await using api = await start(failing());
  const failed = await api.get("/late").then(() => false, () => true);
  assert(failed);
});

test("without errors() the host answers what fails outside the router", async () => {
  await using _database = await openDatabase();
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({ models: [Thing] }));
  app.use(
    ((error, _req, res, _next) => {
      res.status(499).send(`host: ${error.type}`);
    }) as express.ErrorRequestHandler,
  );
  await using api = await start(app);
  const headers = { "content-type": "application/json" };
  const reply = await api.send("POST", "/things", { raw: "{", headers });
  assertEquals([reply.status, reply.text], [499, "host: entity.parse.failed"]);
});
