import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import { tracingChannel } from "node:diagnostics_channel";
import mongoose from "mongoose";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  type ReadOnly,
  rest,
} from "../../mod.ts";
import { apiKeyOf, keys } from "../../src/keys/mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { as as asTool, serveTools } from "../mcp/mcp.ts";
import { Assignee, Task } from "../plugins/plugged.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import type { Client } from "../support/client.ts";
import { until, whenIndexed } from "../support/until.ts";
import { as, by, keyedOptions, type MadeKey, mountKeyed, serveKeyed } from "./keyed.ts";

const batch = { path: "/batch" };

/** Serves tasks and people with keys, in all ways in which clients can ask. */
async function openTools() {
  const options = { ...keyedOptions(), models: [Task, Assignee], batch, queryMethod: true };
  const api = Framework.initialize(options);
  const app = express();
  app.use(express.json(), api);
  app.use(
    "/mcp",
    mcp(api, { expose: [{ model: Task, operations: ["all"] }, { model: Assignee }] }),
  );
  return await serveTools(app, await sharedReplicaSet());
}

/** The statuses of a list, asked directly, by `HEAD`, by `QUERY`, in a batch and live. */
async function statusesOf(app: Client, { path, key }: { path: string; key: string }) {
  const own = by({ key });
  const requests = [{ id: "1", method: "GET", path }];
  const accept = "text/event-stream";
  const live = await fetch(app.url + path, { headers: { ...own.headers, accept } });
  await live.body?.cancel();
  return [
    (await app.get(path, own)).status,
    (await app.send("HEAD", path, own)).status,
    (await app.send("QUERY", path, { ...own, body: {} })).status,
    (await app.post("/batch", { requests }, own)).status,
    live.status,
  ];
}

test("a key is judged alike in a batch, by QUERY, by an assistant and in a live list", async () => {
  await using app = await openTools();
  const given = { name: "n", scopes: ["people:all"] };
  const { body: { key } } = await app.post<MadeKey>("/keys", given, as("ann"));
  assertEquals(await statusesOf(app, { path: "/people", key }), [200, 200, 200, 200, 200]);
  assertEquals(await statusesOf(app, { path: "/tasks", key }), [403, 403, 403, 403, 403]);
  assertEquals((await app.call("describe", {}, asTool(key))).error, undefined);
  const people = await app.call("list", { model: "Assignee" }, asTool(key));
  const tasks = await app.call("list", { model: "Task" }, asTool(key));
  assertEquals([people.error, tasks.status], [undefined, 403]);
  const wrong = await app.rpc({ jsonrpc: "2.0", id: 1, method: "tools/list" }, asTool("mgv_x"));
  assertEquals([wrong.status, wrong.headers.get("www-authenticate")], [
    401,
    `Bearer error="invalid_token"`,
  ]);
});

const seen: unknown[] = [];

@rest({
  route: "/seen",
  methods: [
    all({
      page: { max: 5 },
      preFetch(req: FrameworkRequest) {
        const { headers, headersDistinct, rawHeaders, apiKey, user, cookies } = req as never;
        seen.push({ headers, headersDistinct, rawHeaders, apiKey, user, cookies });
        if (Reflect.get(headers, "x-fail")) throw new Error("broken");
        return true;
      },
    }),
    one(),
    create(),
  ],
  history: true,
})
class Seen extends FrameworkModel {
  @prop({ stamp: "createdBy" })
  readonly by?: ReadOnly<string>;
}

/** Returns everything that is written to the consoles of the process meanwhile. */
async function printed(run: () => Promise<void>): Promise<string> {
  const lines: unknown[] = [];
  const { log, error, warn } = console;
  console.log = console.error = console.warn = (...args) => void lines.push(...args);
  try {
    await run();
  } finally {
    Object.assign(console, { log, error, warn });
  }
  return lines.map((line) => line instanceof Error ? `${line.stack}` : String(line)).join("\n");
}

/** Keeps the messages of finished traces. */
function watchTraces() {
  const kept: string[] = [];
  const { asyncEnd } = tracingChannel("mongrove:request");
  const note = (message: unknown) => void kept.push(JSON.stringify(message));
  asyncEnd.subscribe(note);
  return { kept, [Symbol.dispose]: () => void asyncEnd.unsubscribe(note) };
}

/** Asks directly and in a batch, with success and with an error of a hook, and writes. */
async function useEverywhere(app: Client, headers: Record<string, string>): Promise<string[]> {
  const texts: string[] = [];
  const requests = [{ id: "1", method: "GET", path: "/seen" }];
  for (const more of [{}, { "x-fail": "1" }] as Record<string, string>[]) {
    const own = { headers: { ...headers, ...more } };
    texts.push((await app.get("/seen", own)).text);
    texts.push((await app.post("/batch", { requests }, own)).text);
  }
  const { by } = await app.created("/seen", {}, { headers });
  assertEquals(by, "ann");
  return texts;
}

test("hooks, logs, errors, traces and the history never contain a key", async () => {
  seen.length = 0;
  using traces = watchTraces();
  const kept: string[] = [];
  const onError = (req: FrameworkRequest, error: unknown, context: unknown) => {
    const { headers, rawHeaders, apiKey } = req as never;
    kept.push(JSON.stringify([headers, rawHeaders, apiKey, String(error), context]));
  };
  await using app = await mountKeyed({ models: [Seen], batch, onError });
  const { key } = await app.make("ann", ["**:*"]);
  const cookie = "session=secret";
  const lines = await printed(async () => {
    kept.push(...await useEverywhere(app, { "x-api-key": key, cookie }));
    kept.push(...await useEverywhere(app, { authorization: `Bearer ${key}`, cookie }));
  });
  const records = await mongoose.connection.collection("seens_history").find().toArray();
  assertEquals(records.map(({ via }) => /^key:[0-9a-f]{24}$/.test(via)), [true, true]);
  await until(() => traces.kept.some((each) => each.includes("mongrove.via")));
  const all = [JSON.stringify([seen, records]), lines, ...kept, ...traces.kept].join("\n");
  assertEquals(seen.length, 8);
  for (const secret of [key, key.slice(13, 40), cookie]) assertEquals(all.includes(secret), false);
});

test("a revoked key ends at once in another process, and its live list soon", async () => {
  await using app = await mountKeyed({ limits: { live: { renewMS: 100 } } });
  await using other = await serveKeyed();
  const made = await app.make("ann", ["people:all"]);
  assertEquals((await other.get("/people", by(made))).status, 200);
  await using list = await openLive(`${app.url}/people`, { "x-api-key": made.key });
  await list.ready();
  assertEquals((await other.delete(`/keys/${made.id}`, as("ann"))).status, 204);
  assertEquals((await app.get("/people", by(made))).status, 401);
  assertEquals((await other.get("/people", by(made))).status, 401);
  await list.ended();
});

@rest({ route: "/owned", tenant: "company", methods: [all({ page: { max: 5 } }), create()] })
class Owned extends FrameworkModel {
  @prop({ required: true, readonly: true })
  readonly company!: ReadOnly<string>;
}

test("a key works in its tenant only, and is listed there only", async () => {
  const tenant = (req: FrameworkRequest) => String(req.headers["x-company"]);
  const see = () => true;
  await using app = await mountKeyed({ models: [Owned], tenant, keys: { see } });
  const at = (company: string, headers = {}) => ({ headers: { "x-company": company, ...headers } });
  const ann = { "x-user": "ann" };
  const given = { name: "n", scopes: ["owned:all"] };
  const { body: made } = await app.post<MadeKey>("/keys", given, at("acme", ann));
  const status = async (company: string) =>
    (await app.get("/owned", at(company, { "x-api-key": made.key }))).status;
  assertEquals([await status("acme"), await status("dune")], [200, 403]);
  assertEquals((await app.get("/keys", at("dune", ann))).body, []);
  assertEquals((await app.get<MadeKey[]>("/keys", at("acme", ann))).body.length, 1);
  assertEquals((await app.delete(`/keys/${made.id}`, at("dune", ann))).status, 404);
});

test("with as: user, the owner is req.user, and req.apiKey has the facts of the key", async () => {
  seen.length = 0;
  await using app = await mountKeyed({ models: [Seen], keys: { as: "user" } });
  const made = await app.make("ann", ["seen:all"]);
  assertEquals((await app.get("/seen", by(made))).status, 200);
  const [{ apiKey, user, cookies }] = seen as [Record<string, unknown>];
  const { id, name, scopes, expiresAt } = made;
  assertEquals([user, cookies], [{ id: "ann" }, {}]);
  assertEquals(JSON.parse(JSON.stringify(apiKey)), {
    ...{ id, name, owner: "ann", user: { id: "ann" }, scopes, expiresAt },
  });
  assertEquals(apiKeyOf({}), undefined);
});

test("keys work on a standalone server, and in a database of their own", async () => {
  const mongo = Deno.env.get("MONGODB_URI");
  await using app = await mountKeyed({ models: [Assignee], mongo });
  const other = app.database.connection.useDb(`${app.database.name}_keys`);
  await using apart = await serveKeyed({ connection: other }, [Assignee]);
  const [first, second] = [
    await app.make("ann", ["people:all"]),
    await apart.make("ann", ["people:all"]),
  ];
  const statuses = async (each: typeof apart | typeof app) =>
    await Promise.all(
      [first, second].map(async (key) => (await each.get("/people", by(key))).status),
    );
  assertEquals([await statuses(app), await statuses(apart)], [[200, 401], [401, 200]]);
  const rotated = await apart.post(`/keys/${second.id}/rotate`, undefined, as("ann"));
  assertEquals(rotated.status, 201);
  await other.dropDatabase();
});

test("without the database, a key is a 503 and no 401", async () => {
  await using app = await mountKeyed({ limits: { timeMS: 500 }, onError: () => {} });
  const made = await app.make("ann", ["people:all"]);
  await mongoose.disconnect();
  const { status } = await app.get("/people", by(made));
  await mongoose.connect(app.database.uri);
  assertEquals(status, 503);
});

test("the description has the routes of keys, and no model of theirs", () => {
  const plugins = [keys({ owner: () => ({}) })];
  const api = Framework.initialize({ models: [Assignee], plugins });
  const routes = api.describe().filter(({ model }) => model === "keys");
  assertEquals(routes.map(({ method, path }) => `${method} ${path}`), [
    "GET /keys",
    "POST /keys",
    "POST /keys/:id/rotate",
    "DELETE /keys/:id",
  ]);
});

test("housekeeping removes keys that ended long ago", async () => {
  await using app = await mountKeyed({});
  const [kept, ended] = [
    await app.make("ann", ["people:all"]),
    await app.make("ann", ["tasks:all"]),
  ];
  await app.delete(`/keys/${ended.id}`, as("ann"));
  const soon = new Date(Date.now() + 29 * 24 * 3600_000);
  const later = new Date(Date.now() + 31 * 24 * 3600_000);
  assertEquals((await Framework.tidy({ at: soon })).removed.keys, undefined);
  assertEquals((await Framework.tidy({ at: later })).removed.keys, 1);
  const listed = (await app.get<MadeKey[]>("/keys", as("ann"))).body;
  assertEquals(listed.map(({ id }) => id), [kept.id]);
});

test("a failure to note the use of a key is logged, and changes no answer", async () => {
  await using app = await mountKeyed({});
  const made = await app.make("ann", ["people:all"]);
  const validator = { $jsonSchema: { properties: { lastUsedAt: { bsonType: "null" } } } };
  await whenIndexed(() =>
    app.database.connection.db?.command({ collMod: "mongrove_api_keys", validator })
  );
  let status = 0;
  const lines = await printed(async () => {
    status = (await app.get("/people", by(made))).status;
    await app.get("/people", by(made));
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
  assertEquals(status, 200);
  assertEquals(lines.match(/MongoServerError: Document failed validation/g)?.length, 1, lines);
  assertEquals(lines.includes(made.key), false);
});

test("the use of a key is stored once a minute, whichever process serves it", async () => {
  await using app = await mountKeyed({});
  const [key, other] = [
    await app.make("ann", ["people:all"]),
    await app.make("ann", ["people:all"]),
  ];
  const stored = app.database.connection.collection("mongrove_api_keys");
  const usedAt = async ({ prefix }: MadeKey) =>
    (await stored.findOne({ prefix }))?.lastUsedAt as Date | null;
  const use = async (served: Client, made: MadeKey) => {
    const before = await usedAt(made);
    assertEquals((await served.get("/people", by(made))).status, 200);
    await until(async () => Number(await usedAt(made)) > Number(before));
  };
  await use(app, key);
  const first = await usedAt(key);
  await using second = await serveKeyed();
  await second.get("/people", by(key));
  // Its write begins later than one of the first key would.
  await use(second, other);
  assertEquals(await usedAt(key), first);
  await stored.updateOne({ prefix: key.prefix }, { $set: { lastUsedAt: new Date(0) } });
  await use(second, key);
});

test("caches learn that an answer depends on the header X-API-Key", async () => {
  await using app = await mountKeyed({});
  const made = await app.make("ann", ["people:all"]);
  for (const options of [by(made), as("ann"), { headers: { "x-api-key": "wrong" } }]) {
    const { headers } = await app.get("/people", options);
    assertEquals(headers.get("vary")?.split(", ").includes("X-API-Key"), true);
  }
});

@rest({
  route: "/varied",
  methods: [all({ page: { max: 9 }, count: true, formats: ["csv"] }), create()],
})
class VariedNote extends FrameworkModel {
  @prop()
  text?: string;
}

test("Vary names each header once, whoever says that an answer depends on it", async () => {
  await using app = await mountKeyed({
    models: [VariedNote],
    prepare: (app) => void app.use((_req, res, next) => (res.vary("prefer"), next())),
  });
  for (const accept of ["text/csv", "application/json"]) {
    const headers = { ...as("ann").headers, accept };
    const reply = await app.get("/varied", { headers });
    assertEquals(reply.headers.get("vary"), "prefer, Accept, X-API-Key");
  }
});

test("an answer with a key is stored nowhere, and neither repeated nor left out", async () => {
  await using app = await mountKeyed({});
  const { id } = await app.make("ann", ["people:all"]);
  const given = { name: "program", scopes: ["people:all"] };
  for (const [path, body] of [["/keys", given], [`/keys/${id}/rotate`, {}]] as const) {
    for (const header of [{ prefer: "return=minimal" }, { "idempotency-key": "k" }]) {
      const headers = { ...as("ann").headers, ...header };
      assertEquals([path, (await app.post(path, body, { headers })).status], [path, 400]);
    }
    const { status, headers } = await app.post(path, body, as("ann"));
    assertEquals([status, headers.get("cache-control")], [201, "no-store"]);
  }
});
