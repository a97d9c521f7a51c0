import { assertEquals, assertStringIncludes } from "@std/assert";
import { stub } from "@std/testing/mock";
// @ts-types="express-types"
import express from "express";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  getModel,
  one,
  prop,
  removeAll,
  rest,
  RestError,
  update,
} from "../../mod.ts";
import type { FrameworkRequest, ModelClass } from "../../mod.ts";
import { Named } from "../fixtures/named.ts";
import { openDatabase } from "../harness/database.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { hooked } from "../support/hooked.ts";
import { type ErrorBody, mount, type Mounted, start } from "../support/support.ts";

const INTERNAL = { code: "INTERNAL", message: "Internal error" };

/** Makes a model whose `one()` throws what it is given, before any database call. */
function buildThrower(thrown: unknown): ModelClass {
  const preFetch = () => {
    throw thrown;
  };
  @rest({ route: "/thrown", methods: [one({ preFetch })] })
  class Thrower extends Named {}
  return Thrower;
}

function read(app: Mounted) {
  return app.get<ErrorBody>("/thrown/x");
}

/** Asks over a raw socket: what a broken answer would do to it shows. */
function readRaw({ url }: Mounted) {
  return requestRaw(url, "GET /thrown/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
}

test("RestError in its object form answers with exactly that object", async () => {
  const bodies: [number, object][] = [
    [401, { code: "UNAUTHENTICATED" }],
    [422, { problems: [{ at: 1 }], nested: { a: null } }],
    [400, ["a", { b: 1 }]],
    [409, {}],
  ];
  for (const [status, body] of bodies) {
    await using app = await mount([buildThrower(new RestError(status, body))]);
    const reply = await read(app);
    assertEquals([reply.status, reply.body as unknown], [status, body]);
    assertStringIncludes(reply.headers.get("content-type") ?? "", "application/json");
  }
});

test("RestError in its string form answers with the name of the status and the message", async () => {
  const names: [number, string][] = [
    [400, "BAD_REQUEST"],
    [401, "UNAUTHORIZED"],
    [403, "FORBIDDEN"],
    [404, "NOT_FOUND"],
    [418, "IM_A_TEAPOT"],
    [429, "TOO_MANY_REQUESTS"],
    [503, "SERVICE_UNAVAILABLE"],
  ];
  for (const [status, code] of names) {
    await using app = await mount([buildThrower(new RestError(status, "Because"))]);
    const reply = await read(app);
    assertEquals([reply.status, reply.body], [status, { code, message: "Because" }]);
  }
});

test("RestError answers from every hook, and is never logged", async () => {
  const fail = () => {
    throw new RestError(418, { code: "HERE" });
  };
  const later = () => Promise.reject(new RestError(418, { code: "HERE" }));
  using error = stub(console, "error");
  for (const name of ["preFetch", "fetch", "postFetch", "preSave", "persist", "preSend"] as const) {
    for (const hook of [fail, later]) {
      @rest({ route: "/hooked", methods: [create({ [name]: hook })] })
      class Hooked extends Named {}
      await using app = await mount([Hooked]);
      const reply = await app.post("/hooked", { name: "a" });
      assertEquals([name, reply.status, reply.body], [name, 418, { code: "HERE" }]);
      const count = await getModel(Hooked).countDocuments();
      assertEquals([name, count], [name, name === "preSend" ? 1 : 0]);
    }
  }
  assertEquals(error.calls.length, 0);
});

test("RestError answers from scope and getConnection", async () => {
  const fail = () => {
    throw new RestError(402, "Pay");
  };
  for (const option of ["scope", "getConnection"]) {
    @rest({ route: "/hooked", methods: [all(), removeAll()], [option]: fail })
    class Optioned extends Named {}
    await using app = await mount([Optioned]);
    for (const method of ["GET", "DELETE"]) {
      const reply = await app.send<ErrorBody>(method, "/hooked");
      assertEquals([reply.status, reply.body.code], [402, "PAYMENT_REQUIRED"]);
    }
  }
});

test("RestError sends its headers", async () => {
  const headers = { "WWW-Authenticate": 'Basic realm="a"', "retry-after": "120", "X-Count": "0" };
  await using app = await mount([buildThrower(new RestError(401, "No", { headers }))]);
  const reply = await read(app);
  assertEquals(reply.headers.get("www-authenticate"), 'Basic realm="a"');
  assertEquals(reply.headers.get("retry-after"), "120");
  assertEquals(reply.headers.get("x-count"), "0");
});

test("RestError with an invalid header answers without it, and splits nothing", async () => {
  const invalid: [string, string][] = [
    ["X-Split", "a\r\nX-Injected: b"],
    ["X-Line", "a\nX-Injected: b"],
    ["X-Body", "a\r\n\r\n<html>"],
    ["X-Null", "a\0b"],
    ["X-Far", "\u{1F600}"],
    ["X Space", "a"],
    ["X-Name\r\nX-Injected", "a"],
    ["", "a"],
  ];
  for (const [name, value] of invalid) {
    const error = new RestError(403, "No", { headers: { [name]: value, "X-Good": "1" } });
    await using app = await mount([buildThrower(error)]);
    using warn = stub(console, "warn");
    const reply = await readRaw(app);
    assertEquals([name, reply.status, reply.closed], [name, 403, true]);
    assertEquals(JSON.parse(reply.body), { code: "FORBIDDEN", message: "No" });
    assertEquals(Object.keys(reply.headers).filter((key) => key.startsWith("x-inj")), []);
    assertEquals([reply.headers["x-good"], warn.calls.length], ["1", 1]);
  }
});

test("RestError cannot break the framing of its answer", async () => {
  const headers = {
    "Content-Length": "1",
    "transfer-encoding": "gzip",
    "Connection": "upgrade",
    "Upgrade": "h2c",
    "Trailer": "X",
    "Content-Encoding": "gzip",
  };
  await using app = await mount([buildThrower(new RestError(403, "No", { headers }))]);
  const reply = await read(app);
  assertEquals([reply.status, reply.body], [403, { code: "FORBIDDEN", message: "No" }]);
  const raw = await readRaw(app);
  assertEquals([raw.closed, raw.headers["transfer-encoding"]], [true, undefined]);
  assertEquals(raw.headers["content-length"], String(raw.body.length));
});

test("RestError keeps its cause inside the process", async () => {
  const error = new RestError(400, "Bad", { cause: new Error("password=123") });
  await using app = await mount([buildThrower(error)]);
  const reply = await readRaw(app);
  assertEquals(reply.status, 400);
  assertEquals(reply.text.includes("password"), false);
});

test("RestError with a body that JSON cannot say answers its status all the same", async () => {
  await using app = await mount([buildThrower(new RestError(409, { a: 1n, b: undefined }))]);
  const reply = await read(app);
  assertEquals([reply.status, reply.body as object], [409, { a: 1 }]);
});

test("an unknown error answers 500, tells nothing, and is logged", async () => {
  const secret = "mongodb://user:pass@host";
  const thrown = [new Error(secret), secret, null, undefined, { status: 404, message: secret }]
    .concat(new TypeError(secret), Object.assign(new Error(secret), { status: 400, expose: true }));
  for (const each of thrown) {
    await using app = await mount([buildThrower(each)]);
    using error = stub(console, "error");
    const reply = await readRaw(app);
    assertEquals([reply.status, JSON.parse(reply.body)], [500, INTERNAL]);
    assertEquals(reply.text.includes("pass"), false);
    assertEquals(error.calls.map(({ args }) => args[0]), [each]);
  }
});

test("onError gets an unexpected error first, and its RestError answers without a log", async () => {
  const thrown = new Error("x");
  const seen: unknown[] = [];
  using error = stub(console, "error");
  await using app = await mount([buildThrower(thrown)], {
    onError: async (req, given) => {
      await Promise.resolve();
      seen.push(req.framework.operation, req.path, given);
      return new RestError(507, { code: "FULL" }, { headers: { "x-a": "1" } });
    },
  });
  const reply = await read(app);
  assertEquals([reply.status, reply.body as object], [507, { code: "FULL" }]);
  assertEquals(reply.headers.get("x-a"), "1");
  assertEquals(seen, ["one", "/thrown/x", thrown]);
  assertEquals(error.calls.length, 0);
});

test("onError that gives nothing, or fails itself, leaves the 500", async () => {
  const thrown = new Error("x");
  const second = new Error("y");
  const fail = () => {
    throw second;
  };
  for (const onError of [() => undefined, () => ({ status: 400 }), fail]) {
    using error = stub(console, "error");
    await using app = await mount([buildThrower(thrown)], { onError });
    const reply = await read(app);
    assertEquals([reply.status, reply.body], [500, INTERNAL]);
    const logged = error.calls.map(({ args }) => args[0]);
    assertEquals(logged, onError === fail ? [second, thrown] : [thrown]);
  }
});

test("onError is not asked about what the framework can tell itself", async () => {
  const asked: unknown[] = [];
  @rest({ route: "/known", methods: [create(), one()] })
  class Known extends FrameworkModel {
    @prop({ required: true })
    name!: string;
  }
  const onError = (_req: unknown, error: unknown) => void asked.push(error);
  await using app = await mount([Known, buildThrower(new RestError(404, "Mine"))], { onError });
  const statuses = [
    await app.post("/known", {}),
    await app.get("/known/x"),
    await app.get("/thrown/x"),
  ].map(({ status }) => status);
  assertEquals([statuses, asked], [[400, 404, 404], []]);
});

test("a duplicate key answers 409 with all fields of the index and no value", async () => {
  @rest({ route: "/seats", methods: [create(), update()] })
  class Seat extends FrameworkModel {
    @prop()
    row?: string;
    @prop({ hidden: true })
    code?: string;
    static override configure(schema: Parameters<NonNullable<typeof FrameworkModel.configure>>[0]) {
      schema.index({ row: 1, code: 1 }, { unique: true });
    }
  }
  await using app = await mount([Seat]);
  await getModel(Seat).init();
  await getModel(Seat).create({ row: "r-value", code: "c-value" });
  const { _id } = await getModel(Seat).create({ row: "r-value", code: "other" });
  const body = { row: "r-value", code: "c-value" };
  for (const [method, path] of [["POST", "/seats"], ["PATCH", `/seats/${_id}`]] as const) {
    const reply = await app.send<ErrorBody>(method, path, { body });
    assertEquals([reply.status, reply.body.code], [409, "CONFLICT"]);
    assertEquals(reply.body.fields, ["row", "code"]);
    assertEquals(reply.text.includes("-value"), false);
  }
});

class Vault extends FrameworkModel {
  @prop({ hidden: true, match: /^a/ })
  pin?: string;
  @prop({ maxLength: 3 })
  label?: string;
}

@rest({ route: "/accounts", methods: [create(), update()] })
class Account extends FrameworkModel {
  @prop({ hidden: true, enum: ["one", "two"] })
  secret?: string;
  @prop({ hidden: true, type: Number, min: [10, "{VALUE} is too small"] })
  amount?: number;
  @prop({ type: Vault })
  vault?: Vault;
  @prop({ type: Vault, hidden: true })
  cellar?: Vault;
  @prop({ type: Map, of: Vault })
  vaults?: Map<string, unknown>;
  @prop({ enum: ["one", "two"] })
  open?: string;
}

test("the message of a hidden field carries no value, whichever way it is wrong", async () => {
  await using app = await mount([Account]);
  const { _id } = await getModel(Account).create({ open: "one" });
  const vault = { pin: "leak" };
  const bodies: [object, string][] = [
    [{ secret: "leak" }, "secret"],
    [{ secret: { leak: 1 } }, "secret"],
    [{ amount: 7 }, "amount"],
    [{ amount: "leak" }, "amount"],
    [{ vault }, "vault.pin"],
    [{ cellar: { label: "leak" } }, "cellar.label"],
    [{ vaults: { a: vault } }, "vaults.a.pin"],
    [{ vaults: { label: vault } }, "vaults.label.pin"],
  ];
  for (const [body, path] of bodies) {
    for (const [method, to] of [["POST", "/accounts"], ["PATCH", `/accounts/${_id}`]] as const) {
      const reply = await app.send<ErrorBody>(method, to, { body });
      assertEquals([reply.status, reply.body.code], [400, "BAD_DATA"]);
      assertEquals(Object.keys(reply.body.errors ?? {}), [path]);
      assertEquals([body, /leak|\b7\b/.test(reply.body.errors?.[path]?.message ?? "")], [
        body,
        false,
      ]);
    }
  }
});

test("the message of a field that is not hidden says what is wrong", async () => {
  await using app = await mount([Account]);
  const body = { open: "three", vault: { label: "long" } };
  const reply = await app.post<ErrorBody>("/accounts", body);
  const { open, "vault.label": label } = reply.body.errors ?? {};
  assertEquals([open?.kind, label?.kind], ["enum", "maxlength"]);
  assertStringIncludes(open?.message ?? "", "three");
});

test("Framework.errors() gives a body parser's errors our JSON form", async () => {
  await using app = await mount([Account], {
    prepare: (host) => host.use(express.json({ limit: 100 })),
  });
  const headers = { "content-type": "application/json" };
  const send = (raw: string, more: object = {}) =>
    app.send<ErrorBody>("POST", "/accounts", { raw, headers: { ...headers, ...more } });
  const malformed = await send(`{"open":`);
  const large = await send(JSON.stringify({ open: "x".repeat(200) }));
  const coded = await send("{}", { "content-encoding": "nope" });
  const known = [malformed, large, coded].map(({ status, body }) => [status, body.code]);
  assertEquals(known, [
    [400, "BAD_FORMAT"],
    [413, "PAYLOAD_TOO_LARGE"],
    [415, "UNSUPPORTED_MEDIA_TYPE"],
  ]);
  for (const { headers } of [malformed, large, coded]) {
    assertStringIncludes(headers.get("content-type") ?? "", "application/json");
  }
});

test("Framework.errors() names the limit of the body parser", async () => {
  await using app = await mount([Account], {
    prepare: (host) => host.use(express.json({ limit: 100 })),
  });
  const raw = JSON.stringify({ open: "x".repeat(200) });
  const head = "POST /accounts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const whole = `Content-Length: ${raw.length}\r\n\r\n${raw}`;
  const chunked = `Transfer-Encoding: chunked\r\n\r\n${
    raw.length.toString(16)
  }\r\n${raw}\r\n0\r\n\r\n`;
  for (const rest of [whole, chunked]) {
    const { status, body } = await requestRaw(app.url, `${head}Connection: close\r\n${rest}`);
    assertEquals(status, 413);
    assertEquals(JSON.parse(body), {
      ...{ code: "PAYLOAD_TOO_LARGE", limit: 100 },
      message: "The body is larger than the limit of 100 bytes",
    });
  }
});

test("Framework.errors() answers a host's errors: a RestError as it is, others with 500", async () => {
  const app = express();
  const thrown = new Error("secret");
  const hidden = Object.assign(new Error("secret"), { status: 400, expose: false });
  app.get("/rest", () => {
    throw new RestError(418, { code: "POT" });
  });
  app.get("/plain", () => Promise.reject(thrown));
  app.get("/hidden", () => Promise.reject(hidden));
  app.use(Framework.errors());
  await using api = await start(app);
  using error = stub(console, "error");
  const rest = await api.get("/rest");
  const plain = await api.get("/plain");
  const kept = await api.get("/hidden");
  assertEquals([rest.status, rest.body], [418, { code: "POT" }]);
  assertEquals([plain.status, plain.body], [500, INTERNAL]);
  assertEquals([kept.status, kept.body], [400, { code: "BAD_REQUEST", message: "Bad Request" }]);
  assertEquals(error.calls.map(({ args }) => args[0]), [thrown, hidden]);
});

test("Framework.errors() leaves an answer that has begun to the host", async () => {
  const app = express();
  const late = new Error("late");
  const seen: unknown[] = [];
  app.get("/begun", (_req, res) => {
    res.write("begun");
    throw late;
  });
  app.use(Framework.errors());
  app.use(
    ((error, _req, res, _next) => {
      seen.push(error);
      res.end();
    }) as express.ErrorRequestHandler,
  );
  await using served = await serve(app);
  const reply = await requestRaw(
    served.url,
    "GET /begun HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
  );
  assertEquals([reply.status, seen], [200, [late]]);
});

test("without Framework.errors() a body parser's errors are the host's", async () => {
  await using _database = await openDatabase();
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({ models: [Account] }));
  await using api = await start(app);
  using _error = stub(console, "error");
  const headers = { "content-type": "application/json" };
  const reply = await api.send("POST", "/accounts", { raw: "{", headers });
  assertEquals(reply.status, 400);
  assertStringIncludes(reply.headers.get("content-type") ?? "", "text/html");
});

test("an error answers HEAD with its status and no body", async () => {
  await using app = await mount([buildThrower(new RestError(403, "No"))]);
  const head = "HEAD /thrown/x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const reply = await requestRaw(app.url, head);
  assertEquals([reply.status, reply.body, reply.closed], [403, "", true]);
});

test("a hook that answers by itself is not answered over", async () => {
  for (const passes of [true, false]) {
    @rest({
      route: "/moved",
      methods: [one({
        preFetch: (req) => {
          req.res?.redirect("/elsewhere");
          return passes;
        },
      })],
    })
    class Moved extends Named {}
    await using app = await mount([Moved]);
    const { _id } = await getModel(Moved).create({ name: "a" });
    using error = stub(console, "error");
    const reply = await app.get(`/moved/${_id}`);
    assertEquals([reply.status, reply.headers.get("location")], [302, "/elsewhere"]);
    assertEquals(reply.text.includes("FORBIDDEN"), false);
    assertEquals(error.calls.length, 0);
  }
});

test("all() answers 500 when the database refuses what a hook has put into the filter", async () => {
  const errors: unknown[] = [];
  const preFetch = (req: FrameworkRequest) => {
    req.framework.filter.rank = { $mod: [0, 0] };
    return true;
  };
  @rest({ route: "/hooked", methods: [all({ preFetch })] })
  class HookFiltered extends FrameworkModel {
    @prop({ type: Number })
    rank?: number;
  }
  const onError = (_req: FrameworkRequest, error: unknown) => errors.push(error);
  await using app = await mount([HookFiltered], { onError });
  await getModel(HookFiltered).create({ rank: 1 });
  const reply = await app.get<ErrorBody>("/hooked");
  assertEquals([reply.status, reply.body.code, errors.length], [500, "INTERNAL", 1]);
});

test("the message of a field that reads leave out carries no value, and none below it", async () => {
  class Inner extends FrameworkModel {
    @prop({ maxLength: 3 })
    label?: string;
    @prop({ select: false, maxLength: 3 })
    quiet?: string;
  }
  @rest({ route: "/quiet", methods: [create(), update()] })
  class Quiet extends FrameworkModel {
    @prop({ select: false, enum: ["one"] })
    quiet?: string;
    @prop({ type: Inner, select: false })
    inner?: Inner;
    @prop({ type: Inner })
    open?: Inner;
  }
  await using app = await mount([Quiet]);
  const { insertedId } = await getModel(Quiet).collection.insertOne(
    { quiet: "leak", inner: { label: "leak" }, open: { quiet: "leak" } } as never,
  );
  for (const path of ["quiet", "inner.label", "open.quiet"]) {
    const [name = "", inner] = path.split(".");
    const body = { [name]: inner === undefined ? "leaking" : { [inner]: "leaking" } };
    const reply = await app.patch<ErrorBody>(`/quiet/${insertedId}`, body);
    assertEquals([reply.status, path in (reply.body.errors ?? {})], [400, true]);
    assertEquals(reply.text.includes("leak"), false, reply.text);
  }
});

test("update() tells nothing of a stored value that does not fit its field", async () => {
  const model = hooked({ update: { preSave: (_req, entity) => entity } });
  await using app = await mount([model]);
  const misfit = { secret: "s3cret" };
  for (const fields of [{ rank: misfit }, { name: [misfit] }, { parts: [{ label: misfit }] }]) {
    const { insertedId } = await getModel(model).collection.insertOne(fields as never);
    const path = `/items/${insertedId}`;
    const { status, body, text } = await app.patch<ErrorBody>(path, { owner: "a" });
    assertEquals([status, body.code, text.includes("s3cret")], [400, "BAD_DATA", false]);
  }
});
