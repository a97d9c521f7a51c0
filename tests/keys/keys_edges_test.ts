import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import {
  all,
  create,
  Framework,
  FrameworkModel,
  type FrameworkRequest,
  one,
  prop,
  replace,
  rest,
  StoredFile,
} from "../../mod.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { type Plugin, RestError } from "../../src/plugin/mod.ts";
import { openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "../mcp/mcp.ts";
import { Assignee, Task } from "../plugins/plugged.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { mount, start } from "../support/support.ts";
import { whenIndexed } from "../support/until.ts";
import { as, by, keyedOptions, type MadeKey, mountKeyed, serveKeyed } from "./keyed.ts";

test("a plugin that only names the sender opens no endpoint for assistants", async () => {
  const tracing: Plugin = {
    name: "tracing",
    admit: (req) => ({ via: `agent:${req.headers["user-agent"]}` }),
  };
  const api = Framework.initialize({ models: [Assignee], plugins: [tracing] });
  const app = express();
  app.use(express.json(), api);
  await using tools = await serveTools(app, await sharedReplicaSet());
  const authorization = {
    resource: "http://127.0.0.1/mcp",
    servers: ["https://login.example"],
    verify: () => Promise.resolve(undefined),
  };
  app.use(
    "/mcp",
    mcp(api, { expose: [{ model: Assignee }], hosts: [new URL(tools.url).host], authorization }),
  );
  const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  assertEquals((await tools.rpc(message)).status, 401);
  assertEquals((await tools.rpc(message, { authorization: "Bearer junk" })).status, 401);
});

test("a live list ends after the rotation of its secret", async () => {
  await using app = await mountKeyed({ limits: { live: { renewMS: 100 } } });
  const made = await app.make("ann", ["people:all"]);
  await using list = await openLive(`${app.url}/people`, { "x-api-key": made.key });
  await list.ready();
  assertEquals((await app.post(`/keys/${made.id}/rotate`, undefined, as("ann"))).status, 201);
  assertEquals((await app.get("/people", by(made))).status, 401);
  assertEquals(
    await Promise.race([list.ended().then(() => "ended"), pause(1500).then(() => "open")]),
    "ended",
  );
});

@rest({ route: "/reels", methods: [all({ page: { max: 5 } }), one(), create()] })
class Reel extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100 })
  poster?: StoredFile;
}

test("an upload with a secret that is rotated meanwhile stores nothing", async () => {
  await using app = await mountKeyed({ models: [Reel] });
  const { _id } = await app.created("/reels", {}, as("ann"));
  const made = await app.make("ann", ["reels:one", "reels/poster:replace"]);
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(app.url).port), "127.0.0.1", async () => {
      socket.write(
        `PUT /reels/${_id}/poster HTTP/1.1\r\nHost: x\r\nX-API-Key: ${made.key}\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n`,
      );
      await pause(100);
      await app.post(`/keys/${made.id}/rotate`, undefined, as("ann"));
      socket.write("3\r\ndef\r\n0\r\n\r\n");
    });
    socket.on("data", (data) => text += data);
    socket.on("close", () => resolve(text));
  });
  assertEquals(answer.slice(0, 12), "HTTP/1.1 401");
});

test("onError sees no key, also if the admission fails", async () => {
  const kept: string[] = [];
  const onError = ({ headers, rawHeaders }: FrameworkRequest) =>
    void kept.push(JSON.stringify([headers, rawHeaders]));
  let fails = true;
  const owner = () => {
    if (fails) throw new Error("no directory");
    return {};
  };
  await using app = await mountKeyed({ onError, keys: { owner }, limits: { timeMS: 500 } });
  const { key } = await app.make("ann", ["people:all"]);
  assertEquals((await app.get("/people", by({ key }))).status, 500);
  fails = false;
  await mongoose.disconnect();
  const { status } = await app.get("/people", by({ key }));
  await mongoose.connect(app.database.uri);
  assertEquals([status, kept.length], [503, 2]);
  assertEquals(kept.map((each) => each.includes(key)), [false, false]);
});

test("an owner that is no object is nobody", async () => {
  await using app = await mountKeyed({ keys: { owner: () => false as never } });
  assertEquals((await app.get("/people", by(await app.make("ann", ["people:all"])))).status, 401);
});

test("next() after the end of around writes nothing", async () => {
  const late: Plugin = {
    name: "late",
    around(_call, next) {
      setTimeout(() => void next().catch(() => {}), 50);
      return Promise.resolve();
    },
  };
  await using app = await mount([Assignee], { plugins: [late], onError: () => {} });
  assertEquals((await app.post("/people", { name: "a" })).status, 500);
  await pause(300);
  assertEquals(await mongoose.connection.collection("assignees").countDocuments(), 0);
});

test("max holds after it was lowered", async () => {
  await using app = await mountKeyed({ keys: { max: 6 } });
  const made: MadeKey[] = [];
  for (let at = 0; at < 6; at++) made.push(await app.make("ann", ["people:all"]));
  for (const { id } of made.slice(0, 2)) await app.delete(`/keys/${id}`, as("ann"));
  await using low = await serveKeyed({ max: 2 });
  const body = { name: "n", scopes: ["people:all"] };
  assertEquals((await low.post("/keys", body, as("ann"))).status, 409, "4 valid keys, max 2");
});

test("a list of keys shows valid ones before thousands that have ended or expired", async () => {
  await using app = await mountKeyed({
    keys: { see: (req) => req.headers["x-user"] === "admin" },
  });
  const made = await app.make("ann", ["people:all"], { expiresAt: null });
  const stored = await mongoose.connection.collection("mongrove_api_keys").findOne();
  const { _id, hash: _hash, place: _place, ...others } = Object(stored);
  const endedAt = new Date();
  const ended = Array.from({ length: 1100 }, (_, at) => {
    const over = at % 11 === 0 ? { endedAt } : { expiresAt: endedAt, owner: `${at}`, place: 7 };
    return { ...others, hash: `${at}`, createdAt: endedAt, ...over };
  });
  await mongoose.connection.collection("mongrove_api_keys").insertMany(ended);
  const { body } = await app.get<MadeKey[]>("/keys", as("admin"));
  assertEquals([body.length, body.at(-1)?.id], [1000, made.id], String(_id));
});

test("a key has a scope for the route of another plugin", async () => {
  const reports: Plugin = {
    name: "reports",
    routes: [{
      method: "GET",
      path: "/reports",
      operation: "all",
      summary: "Report",
      answer: {},
      run: () => [],
    }],
  };
  const { plugins, ...options } = keyedOptions();
  await using app = await mountKeyed({ ...options, plugins: [...plugins, reports] });
  const [right, wrong] = [
    await app.make("ann", ["reports:all"]),
    await app.make("ann", ["people:all"]),
  ];
  const statuses = [right, wrong].map(async (key) => (await app.get("/reports", by(key))).status);
  assertEquals(await Promise.all(statuses), [200, 403]);
});

test("a route of a plugin has the time of a request", async () => {
  const slow: Plugin = {
    name: "slow",
    routes: [{
      method: "GET",
      path: "/slow",
      operation: "one",
      summary: "Slow",
      answer: {},
      run: () => new Promise(() => {}),
    }],
  };
  await using app = await mount([Assignee], {
    plugins: [slow],
    limits: { timeMS: 200 },
    onError: () => {},
  });
  assertEquals((await app.get("/slow")).status, 503);
});

test("an outer plugin that does not pass a refusal on changes it into no error", async () => {
  const outer: Plugin = {
    name: "outer",
    around: async (_call, next) => await next().catch(() => {}),
  };
  const inner: Plugin = { name: "inner", around: () => Promise.reject(new RestError(403, "no")) };
  await using app = await mount([Assignee], { plugins: [outer, inner] });
  assertEquals((await app.get("/people")).status, 403);
});

test("rotate gives no scope outside of keys({ scopes }), and a key has none there", async () => {
  await using app = await mountKeyed({});
  const wide = await app.make("ann", ["**:*"]);
  await using narrow = await serveKeyed({ scopes: ["people:all"] });
  assertEquals((await narrow.post(`/keys/${wide.id}/rotate`, undefined, as("ann"))).status, 400);
  assertEquals((await narrow.get("/people", by(wide))).status, 200);
  assertEquals((await narrow.get("/tasks", by(wide))).status, 403);
});

test("a rotated key of the far future works", async () => {
  await using app = await mountKeyed({});
  const far = { name: "n", scopes: ["people:all"], expiresAt: "+275760-09-13T00:00:00.000Z" };
  assertEquals((await app.post("/keys", far, as("ann"))).status, 400);
  const made = await app.make("ann", ["people:all"], { expiresAt: "9999-12-31T00:00:00Z" });
  const { status, body } = await app.post<MadeKey>(`/keys/${made.id}/rotate`, undefined, as("ann"));
  assertEquals(status, 201);
  assertEquals((await app.get("/people", by(body))).status, 200);
});

test("a rotation that fails leaves no second key", async () => {
  await using app = await mountKeyed({ onError: () => {} });
  const { id } = await app.make("ann", ["people:all"], { expiresAt: null });
  const isOther = { _id: { $ne: new mongoose.Types.ObjectId(id) } };
  const validator = { $or: [isOther, { expiresAt: null }] };
  await whenIndexed(() =>
    mongoose.connection.db?.command({ collMod: "mongrove_api_keys", validator })
  );
  assertEquals((await app.post(`/keys/${id}/rotate`, { overlap: "1h" }, as("ann"))).status, 500);
  assertEquals((await app.get<MadeKey[]>("/keys", as("ann"))).body.length, 1);
});

test("a key beside a user that is null is one login", async () => {
  const prepare = (app: express.Express) => {
    app.use(express.json(), (req, _res, next) => next(void Object.assign(req, { user: null })));
  };
  await using app = await mountKeyed({ prepare });
  assertEquals((await app.get("/people", by(await app.make("ann", ["people:all"])))).status, 200);
});

test("values of a plugin for _id and __v are refused, and fields of options stay", async () => {
  const accepted: string[] = [];
  for (const field of ["_id", "__v", "deletedAt"]) {
    const values = { fields: [field], of: () => ({ [field]: undefined }) };
    try {
      const app = await mount([Task, Assignee], {
        mongo: await sharedReplicaSet(),
        plugins: [{ name: "v", values }],
      });
      accepted.push(field);
      await app[Symbol.asyncDispose]();
    } catch (error) {
      assertEquals(error instanceof TypeError, true);
    }
  }
  assertEquals(accepted, ["deletedAt"]);
});

test("nothing runs after the answer, if around does not wait for next()", async () => {
  const hasty: Plugin = {
    name: "hasty",
    around(_call, next) {
      void next().catch(() => {});
      throw new RestError(403, "no");
    },
  };
  await using app = await mount([Assignee], { plugins: [hasty] });
  assertEquals((await app.post("/people", { name: "a" })).status, 403);
  assertEquals(await mongoose.connection.collection("assignees").countDocuments(), 1);
});

test("a key without a tenant is of no tenant called undefined", async () => {
  await using app = await mountKeyed({ models: [Assignee, Task] });
  const made = await app.make("ann", ["**:*"]);
  @rest({ route: "/shops", tenant: "company", methods: [all({ page: { max: 5 } }), create()] })
  class Shop extends FrameworkModel {
    @prop({ required: true, readonly: true })
    readonly company!: string;
  }
  const tenant = (req: FrameworkRequest) => String(req.headers["x-company"]);
  await using later = await serveWith([Shop], { tenant });
  assertEquals((await later.get("/shops", by(made))).status, 403);
});

async function serveWith(models: never[] | unknown[], more: object) {
  const app = express();
  app.use(
    express.json(),
    Framework.initialize({ ...keyedOptions(), ...more, models: models as never }),
  );
  app.use(Framework.errors());
  const served = await start(app);
  return { ...served, [Symbol.asyncDispose]: () => served.stop() };
}

test("the request of an assistant keeps no key in its raw headers", async () => {
  const api = Framework.initialize({ ...keyedOptions(), models: [Assignee] });
  const app = express();
  const kept: string[] = [];
  app.use((req, res, next) => {
    res.on("finish", () => kept.push(JSON.stringify([req.rawHeaders, req.headersDistinct])));
    next();
  });
  app.use(express.json(), api);
  await using tools = await serveTools(app, await sharedReplicaSet());
  const authorization = {
    resource: "http://127.0.0.1/mcp",
    servers: ["https://login.example"],
    verify: () => Promise.resolve(undefined),
  };
  app.use(
    "/mcp",
    mcp(api, { expose: [{ model: Assignee }], hosts: [new URL(tools.url).host], authorization }),
  );
  const { body: { key } } = await tools.post<MadeKey>("/keys", {
    name: "n",
    scopes: ["people:all"],
  }, as("ann"));
  await tools.get("/people", by({ key }));
  assertEquals(kept.at(-1)?.includes(key), false, "a direct request");
  const params = { name: "list", arguments: { model: "Assignee" } };
  await tools.rpc({ jsonrpc: "2.0", id: 1, method: "tools/call", params }, { "x-api-key": key });
  assertEquals(kept.at(-1)?.includes(key), false, "a tool");
});

test("a populated class that only another router serves can be named by a scope", async () => {
  await using app = await mountKeyed({ models: [Task] });
  const { status, text } = await app.get(
    "/tasks?populate=person",
    by(await app.make("ann", ["tasks:all"])),
  );
  assertEquals([status, JSON.parse(text).scope], [403, "people:one"]);
});

test("scopes name routes with any characters", async () => {
  const routes = ["/@me", "/a,b", "/x%20y/z'z"];
  const models = routes.map((route, index) => {
    @rest({ route, methods: [all()] })
    class Signed extends FrameworkModel {
      static override schemaOptions = { collection: `signed_${index}` };
    }
    return Signed;
  });
  await using app = await mountKeyed({ models });
  const everything = await app.make("ann", ["**:*"]);
  for (const [index, route] of routes.entries()) {
    const own = await app.make("ann", [`${route.slice(1)}:all`]);
    const statuses = [];
    for (const path of routes) statuses.push((await app.get(path, by(own))).status);
    assertEquals(statuses, routes.map((_, other) => other === index ? 200 : 403), route);
    assertEquals((await app.get(route, by(everything))).status, 200, route);
  }
});

test("a misspelled word is no scope", async () => {
  await using app = await mountKeyed({});
  for (const scope of ["people:trash", "tasks/notes:trash", "people:many"]) {
    assertEquals([
      scope,
      (await app.post("/keys", { name: "n", scopes: [scope] }, as("ann"))).status,
    ], [scope, 400]);
  }
});
