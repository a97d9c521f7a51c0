import { assert, assertEquals } from "@std/assert";
import { AsyncLocalStorage } from "node:async_hooks";
import { tracingChannel } from "node:diagnostics_channel";
import { setTimeout as wait } from "node:timers/promises";
import express, { type Express } from "express";
import { action, all, create, Framework, FrameworkModel, getModel, one, prop } from "../../mod.ts";
import { rest, RestError, update } from "../../mod.ts";
import type {
  FrameworkRequest,
  FrameworkRouter,
  ModelClass,
  RequestTrace,
  Restricted,
} from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import type { Exposure } from "@mongrove/mongrove/mcp";
import { test } from "../harness/testing.ts";
import { serveTools } from "./mcp.ts";

interface ServeOptions {
  readonly expose: readonly Exposure[];
  readonly prepare?: (app: Express, api: FrameworkRouter) => void;
  readonly at?: string;
  readonly onError?: (req: unknown, error: unknown) => void;
}

async function serveModels({ expose, prepare, at = "/mcp", onError = () => {} }: ServeOptions) {
  const models = [...new Set(expose.map(({ model }): ModelClass => model))];
  const api = Framework.initialize({ models, onError });
  const app = express();
  app.use(express.json());
  prepare?.(app, api);
  app.use(at, mcp(api, { expose }));
  app.use(at.replace("mcp", "api"), api);
  app.use(Framework.errors());
  const served = await serveTools(app);
  await Promise.all(models.map((model) => getModel(model).init()));
  return served;
}

const store = new AsyncLocalStorage<string>();

/** What the last hook has seen of its request. */
let seen: Record<string, unknown> = {};

function look(req: FrameworkRequest): boolean {
  const { method, originalUrl, ip, params: { tenant, id }, headers } = req;
  seen = {
    ...{ method, originalUrl, ip, tenant, id, body: req.body, res: req.res?.locals.trace },
    ...{ user: Reflect.get(req, "user"), stored: store.getStore(), cookie: req.get("cookie") },
    query: { ...req.query },
    headers: Object.keys(headers).sort().join(" "),
    ...{ accept: headers.accept, match: headers["if-match"], key: headers["idempotency-key"] },
  };
  Reflect.set(req, "left", "by a hook");
  req.on("left", () => {});
  req.res?.cookie("left", "by a hook");
  return true;
}

@rest({
  route: "/notes",
  methods: [
    all({ preFetch: look }),
    one({ preFetch: look }),
    update({ preFetch: look }),
    create({ preFetch: look, idempotency: { keep: "1h", required: true, caller: () => "" } }),
  ],
  ifMatch: true,
})
class Note extends FrameworkModel {
  @prop({ required: true })
  text!: string;
}

const WRITES = ["all", "one", "create", "update"] as const;

/** What the caller's own request and its answer are at the end. */
let outer: Record<string, unknown> = {};

/** What hosts do with requests before tools get them. */
function addMiddleware(app: Express): void {
  app.set("trust proxy", 1);
  app.use((req, res, next) => {
    Object.assign(req, { user: "Ada" });
    // Hosts do this, as Express makes a new object for each access.
    Object.defineProperty(req, "query", { value: { ...req.query } });
    res.locals.trace = "t1";
    res.on("finish", () => {
      const { method, originalUrl, body } = req;
      outer = { method, originalUrl, tool: body.params.name, left: Reflect.get(req, "left") };
      outer = { ...outer, state: Reflect.get(req, "framework"), cookie: res.get("set-cookie") };
      outer.listeners = req.listenerCount("left");
    });
    store.run("context", next);
  });
}

/** Reads a note by a request with headers of its own, and gives the path that hooks have to see. */
async function readNote(): Promise<string> {
  const expose = [{ model: Note, operations: WRITES }];
  await using notes = await serveModels({ expose, at: "/:tenant/mcp", prepare: addMiddleware });
  const { id } = await getModel(Note).create({ text: "a" });
  const headers = {
    ...{ authorization: "Bearer x", cookie: "sid=1", "x-forwarded-for": "9.9.9.9" },
    ...{ prefer: "return=minimal", "if-match": '"99"', "if-none-match": "*", range: "bytes=0-1" },
    ...{ "idempotency-key": "outer", "last-event-id": "5", accept: "text/event-stream" },
    "mcp-protocol-version": "2025-11-25",
  };
  const params = { name: "read", arguments: { model: "Note", id, select: [] } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const path = "/acme/mcp?tenant=dune";
  const { body } = await notes.post<{ result: object }>(path, message, { headers });
  assertEquals("isError" in body.result, false);
  return `/acme/mcp/notes/${id}`;
}

test("hooks get the caller's request, with what middleware has put on it", async () => {
  const originalUrl = await readNote();
  const { headers, ...others } = seen;
  assertEquals(others, {
    ...{ method: "GET", originalUrl, ip: "9.9.9.9", tenant: "acme" },
    ...{ id: originalUrl.slice(-24), body: undefined, query: {}, accept: "application/json" },
    ...{ res: "t1", user: "Ada", stored: "context", cookie: "sid=1" },
    ...{ match: undefined, key: undefined },
  });
  const names = String(headers).split(" ");
  for (const own of ["prefer", "range", "if-none-match", "content-type", "mcp-protocol-version"]) {
    assert(!names.includes(own), own);
  }
  assert(names.includes("authorization"));
});

test("what hooks do with their request is not done to the caller's", async () => {
  await readNote();
  const own = { method: "POST", originalUrl: "/acme/mcp?tenant=dune", tool: "read" };
  assertEquals(outer, {
    ...own,
    left: undefined,
    state: undefined,
    cookie: undefined,
    listeners: 0,
  });
});

test("keys and versions are arguments of tools", async () => {
  await using notes = await serveModels({ expose: [{ model: Note, operations: WRITES }] });
  const create = { model: "Note", body: { text: "a" } };
  assertEquals((await notes.call("create", create)).status, 400);
  const first = await notes.call("create", { ...create, idempotencyKey: "k1" });
  const again = await notes.call("create", { ...create, idempotencyKey: "k1" });
  assertEquals(again.entity, first.entity);
  assertEquals(await getModel(Note).countDocuments(), 1);
  const { _id: id } = first.entity as { readonly _id: string };
  const update = { model: "Note", id, body: { text: "b" } };
  assertEquals((await notes.call("update", update)).status, 428);
  const { entity, etag } = await notes.call("update", { ...update, ifMatch: first.etag });
  assertEquals((entity as { text: string }).text, "b");
  assertEquals((await notes.call("update", { ...update, ifMatch: first.etag })).status, 412);
  assertEquals(etag === first.etag, false);
  const { operations } = await notes.call("describe", { model: "Note" });
  const [, , made, changed] = operations as { readonly arguments: unknown }[];
  assertEquals(made?.arguments, [{ name: "idempotencyKey", required: true }]);
  assertEquals(changed?.arguments, [{ name: "ifMatch", required: true }]);
});

class PeekAnswer extends FrameworkModel {
  @prop({ hidden: (req) => req.headers.authorization === undefined })
  secret?: Restricted<string>;

  @prop()
  text?: string;
}

const peek = action("peek", {
  ...{ on: "one", method: "GET", answer: PeekAnswer },
  run: (_req: FrameworkRequest, entity: object) => entity,
});
const forget = action("forget", { on: "one", run: () => undefined });

@rest({ route: "/cards", methods: [all({ page: { max: 500 } }), one(), update(), peek, forget] })
@rest({ route: "/old/cards", methods: [one()] })
class Card extends FrameworkModel {
  @prop()
  text?: string;
}

test("tools that change something are there only where a model exposes it", async () => {
  const route = "/cards";
  const names = async (exposure: Omit<Exposure, "model">) => {
    await using cards = await serveModels({ expose: [{ model: Card, route, ...exposure }] });
    return (await cards.list()).map(({ name, annotations: { readOnlyHint, destructiveHint } }) =>
      [name, readOnlyHint, destructiveHint].join(" ")
    );
  };
  const reading = ["describe true false", "list true false", "read true false"];
  assertEquals(await names({}), reading);
  assertEquals(await names({ actions: ["peek"] }), [...reading, "action true false"]);
  const changing = { operations: ["update"], actions: ["forget"] } as const;
  const writing = ["update false true", "action false true"];
  assertEquals(await names(changing), ["describe true false", ...writing]);
});

test("an action says whether it is on one entity, and may answer nothing", async () => {
  const exposure = { model: Card, route: "/cards", actions: ["forget", "peek"] };
  await using cards = await serveModels({ expose: [exposure] });
  const { _id } = await getModel(Card).create({ text: "a" });
  const forgotten = { model: "Card", action: "forget", id: String(_id) };
  assertEquals(await cards.call("action", forgotten), {});
  const { error } = await cards.call("action", { ...forgotten, id: undefined });
  assertEquals(
    (error as { message: string }).message,
    `Argument "id" is missing: the action is on one entity`,
  );
});

test("what an action takes and answers is described as its caller may see it", async () => {
  const exposure = { model: Card, route: "/cards", actions: ["peek"] };
  await using cards = await serveModels({ expose: [exposure] });
  const describe = async (headers: object) =>
    JSON.stringify(await cards.call("describe", { model: "Card" }, headers)).includes("secret");
  assertEquals([await describe({}), await describe({ authorization: "x" })], [false, true]);
});

test("a page has 50 entities, where its route allows more", async () => {
  await using cards = await serveModels({ expose: [{ model: Card, route: "/cards" }] });
  await getModel(Card).insertMany(Array.from({ length: 70 }, () => ({ text: "a" })));
  const sizes = [undefined, 60, 70].map(async (limit) => {
    const { entities, next } = await cards.call("list", { model: "Card", limit });
    return [(entities as unknown[]).length, next !== undefined];
  });
  assertEquals(await Promise.all(sizes), [[50, true], [60, true], [70, false]]);
});

test("a class with two routes is exposed by two names", async () => {
  const old = { model: Card, route: "/old/cards", name: "OldCard" };
  await using cards = await serveModels({ expose: [{ model: Card, route: "/cards" }, old] });
  const { models } = await cards.call("describe", {});
  assertEquals(models, [
    { model: "Card", operations: ["all", "one"] },
    { model: "OldCard", operations: ["one"] },
  ]);
  const { _id } = await getModel(Card).create({ text: "a" });
  const read = await cards.call("read", { model: "OldCard", id: String(_id) });
  assertEquals((read.entity as { text: string }).text, "a");
  const listed = await cards.call("list", { model: "OldCard" });
  assertEquals([listed.status, (listed.error as { argument: string }).argument], [400, "model"]);
});

/** What a guard does. */
let act: (req: FrameworkRequest) => boolean | Promise<boolean> = () => true;

@rest({ route: "/logs", methods: [all({ preFetch: (req) => act(req) }), one()] })
class Log extends FrameworkModel {
  @prop()
  text?: string;
}

test("an error of the server tells nothing of its insides", async () => {
  const errors: unknown[] = [];
  const onError = (_req: unknown, error: unknown) => void errors.push(error);
  await using logs = await serveModels({ expose: [{ model: Log }], onError });
  act = () => {
    throw new Error("the password is 1234");
  };
  assertEquals(await logs.call("list", { model: "Log" }), {
    ...{ status: 500, error: { code: "INTERNAL", message: "Internal error" } },
  });
  assertEquals(String(errors[0]), "Error: the password is 1234");
  act = () => {
    throw new RestError(503, "Try again tomorrow");
  };
  const { status, error } = await logs.call("list", { model: "Log" });
  assertEquals([status, (error as { message: string }).message], [503, "Try again tomorrow"]);
});

test("a call is traced as a request of its route", async () => {
  await using logs = await serveModels({ expose: [{ model: Log }] });
  act = () => true;
  const traced: unknown[] = [];
  const onEnd = (message: unknown) => void traced.push((message as RequestTrace).attributes);
  const { asyncEnd } = tracingChannel("mongrove:request");
  asyncEnd.subscribe(onEnd);
  await logs.call("list", { model: "Log" });
  asyncEnd.unsubscribe(onEnd);
  assertEquals(traced, [{
    ...{ "http.request.method": "GET", "http.route": "/logs", "http.response.status_code": 200 },
    ...{ "mongrove.model": "Log", "mongrove.operation": "all" },
  }]);
});

test("an answer that a hook sends by itself is told", async () => {
  await using logs = await serveModels({ expose: [{ model: Log }] });
  act = (req) => {
    req.res?.status(418).json({ tea: true });
    return true;
  };
  assertEquals(await logs.call("list", { model: "Log" }), { status: 418, error: { tea: true } });
  act = (req) => {
    req.res?.status(451).send("no");
    return true;
  };
  assertEquals(await logs.call("list", { model: "Log" }), { status: 451, error: "no" });
  act = (req) => {
    req.res?.write("[1");
    return true;
  };
  assertEquals((await logs.call("list", { model: "Log" })).status, 500);
});

test("what the router passes on goes to the error handler of the host", async () => {
  await using logs = await serveModels({
    expose: [{ model: Log }],
    prepare: (_app, api) =>
      void api.param("id", (_req, _res, next, id) => {
        if (id === "router") next("router");
        else next(id === "rest" ? new RestError(409, "By the host") : new Error("secret"));
      }),
  });
  const read = { name: "read", arguments: { model: "Log", id: "x" } };
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: read };
  const { status, body, text } = await logs.rpc(message);
  assertEquals([status, body.result, text.includes("secret")], [500, undefined, false]);
  assertEquals((await logs.call("read", { model: "Log", id: "rest" })).status, 409);
  assertEquals((await logs.call("read", { model: "Log", id: "router" })).status, 404);
});

test("an answer that is too long is refused, and tells what to do", async () => {
  act = () => true;
  await using logs = await serveModels({ expose: [{ model: Log }] });
  const text = "x".repeat(30_000);
  await getModel(Log).insertMany(Array.from({ length: 60 }, () => ({ text })));
  const { status, error } = await logs.call("list", { model: "Log" });
  assertEquals([status, (error as { code: string }).code], [413, "PAYLOAD_TOO_LARGE"]);
  const { entities, next } = await logs.call("list", { model: "Log", limit: 20 });
  assertEquals([(entities as unknown[]).length, typeof next], [20, "object"]);
});

test("a caller who leaves is noticed", async () => {
  await using logs = await serveModels({ expose: [{ model: Log }] });
  const left = new AbortController();
  const noticed = new Promise((resolve) => {
    act = (req) => {
      req.res?.once("close", () => resolve(req.res?.destroyed));
      left.abort();
      return wait(200, true);
    };
  });
  const message = {
    ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
    params: { name: "list", arguments: { model: "Log" } },
  };
  const sent = fetch(`${logs.url}/mcp`, {
    ...{ method: "POST", signal: left.signal, body: JSON.stringify(message) },
    headers: { "content-type": "application/json", "mcp-protocol-version": "2025-11-25" },
  });
  await sent.catch(() => {});
  assertEquals(await noticed, true);
  act = () => true;
  assertEquals(await logs.call("list", { model: "Log" }), { entities: [] });
});

test("guards decide on what is described", async () => {
  await using logs = await serveModels({ expose: [{ model: Log }] });
  act = () => false;
  const { operations } = await logs.call("describe", { model: "Log" });
  assertEquals((operations as unknown[])[0], {
    operation: "all",
    refused: { status: 403, error: { code: "FORBIDDEN", message: "Not allowed" } },
  });
  let asked: unknown;
  act = (req) => {
    asked = req.method;
    return true;
  };
  const { fields } = await logs.call("describe", { model: "Log", id: "x" });
  assertEquals([asked, (fields as unknown[]).length], ["GET", 3]);
});
