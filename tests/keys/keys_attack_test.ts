import { assertEquals, assertMatch } from "@std/assert";
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
import { apiKeyOf } from "../../src/keys/mod.ts";
import { makeKey } from "../../src/keys/_key_text.ts";
import { mcp } from "../../src/mcp/mod.ts";
import { openLive } from "../features/live/live.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "../mcp/mcp.ts";
import { Assignee, Task } from "../plugins/plugged.ts";
import type { Client } from "../support/client.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { asQuery, NOBODY } from "../support/support.ts";
import { as, by, keyedOptions, type MadeKey, mountKeyed } from "./keyed.ts";

const batch = { path: "/batch" };

interface RawPiece {
  readonly text: string;
  /** Runs before the piece is sent. */
  readonly before?: () => Promise<unknown>;
}

/** Sends bytes that no HTTP client sends, and returns all that comes back until the end of the connection. */
function sendRaw({ url }: Client, pieces: readonly RawPiece[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(Number(new URL(url).port), "127.0.0.1", async () => {
      for (const { text, before } of pieces) {
        await before?.();
        socket.write(text);
      }
    });
    socket.on("data", (data) => answer += data);
    socket.on("error", reject);
    socket.on("close", () => resolve(answer));
  });
}

function message(path: string, { lines = [], isLast = true }: {
  readonly lines?: readonly string[];
  readonly isLast?: boolean;
}): string {
  const all = ["Host: x", ...lines, ...isLast ? ["Connection: close"] : []];
  return `GET ${path} HTTP/1.1\r\n${all.join("\r\n")}\r\n\r\n`;
}

function statusesIn(answer: string): number[] {
  return [...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status));
}

test("on a shared connection, a key is that of one request only", async () => {
  await using app = await mountKeyed({});
  const { key } = await app.make("ann", ["people:all"]);
  const lines = [[`X-API-Key: ${key}`], [], [`X-API-Key: ${key}x`], [`X-API-Key: ${key}`], []];
  const text = lines.map((each, index) =>
    message("/people", { lines: each, isLast: index === lines.length - 1 })
  ).join("");
  assertEquals(statusesIn(await sendRaw(app, [{ text }])), [200, 403, 401, 200, 403]);
});

test("odd headers give a key no more and no less", async () => {
  await using app = await mountKeyed({});
  const { key } = await app.make("ann", ["people:all"]);
  const { key: other } = await app.make("bob", ["people:all"]);
  const cases: readonly [readonly string[], number][] = [
    [[`AUTHORIZATION:   BEARER    ${key}   `], 200],
    [[`X-API-Key: ${key}`, "Cookie: a=b"], 200],
    [[`X-API-Key: ${key}`, `X-API-Key: ${key}`], 401],
    [[`X-API-Key: ${key}`, `X-API-Key: ${other}`], 401],
    [["X-API-Key:"], 401],
    [[`X-API-Key: ${key}\u00e9`], 401],
    [[`X-API-Key: ${"a".repeat(9000)}`], 401],
    [[`Authorization: Bearer ${key},`], 401],
    [[`X-API-Key: ${key}\0`], 400],
    [["X-API-Key:", `Authorization: Bearer ${key}`], 400],
    [[`X-API-Key: ${key}`, "Authorization:"], 400],
    [["Authorization: Basic eDp5", `X-API-Key: ${key}`], 400],
    [[`Authorization: Bearer\t${key}`], 403],
    [[`Authorization: ${key}`], 403],
    [[`Authorization: Basic ${btoa(`${key}:`)}`], 403],
    [[`X_API_Key: ${key}`], 403],
    [[`Proxy-Authorization: Bearer ${key}`], 403],
    [[`Cookie: x-api-key=${key}`], 403],
  ];
  for (const [lines, status] of cases) {
    const answer = await sendRaw(app, [{ text: message("/people", { lines }) }]);
    assertEquals([lines, statusesIn(answer)], [lines, [status]]);
  }
});

test("no form of a path or of the parameter trash reaches more", async () => {
  await using app = await mountKeyed({ batch, queryMethod: true });
  const { _id } = await app.created("/tasks", { name: "gone" }, as("ann"));
  await app.delete(`/tasks/${_id}`, as("ann"));
  const { key } = await app.make("ann", ["tasks:all", "tasks:one", "people:all"]);
  const { key: ofTrash } = await app.make("ann", ["tasks:trash"]);
  const texts = ["trash=only", "%74rash=onl%79", "&trash=only", "trash[]=only", "trash"];
  const other = ["TRASH=only", "+trash=only", "trash%00=only", "a=1;trash=only", "#?trash=only"];
  for (const text of [...texts, ...other, "trash=only&trash=only", "trash=only#x"]) {
    for (const path of ["/tasks", `/tasks/${_id}`]) {
      const lines = [`X-API-Key: ${key}`];
      const answer = await sendRaw(app, [{ text: message(`${path}?${text}`, { lines }) }]);
      assertEquals([text, answer.includes("gone")], [text, false]);
    }
  }
  for (const text of ["", "?trash", "?trash=", "?TRASH=only", "?trash=ONLY"]) {
    const { status } = await app.get(`/tasks${text}`, by({ key: ofTrash }));
    assertEquals([text, status === 400 || status === 403], [text, true]);
  }
  for (const path of ["/tasks/x/notes", "/TASKS/x", "//tasks", "/people/../tasks", "/%74asks"]) {
    const answer = await sendRaw(app, [
      { text: message(path, { lines: [`X-API-Key: ${ofTrash}`] }) },
    ]);
    assertMatch(answer, /^HTTP\/1\.1 40[34]/);
  }
});

test("each way to follow a reference needs the scope of its class", async () => {
  await using app = await mountKeyed({ batch, queryMethod: true });
  const { _id: person } = await app.created("/people", { name: "Ada" }, as("ann"));
  await app.created("/tasks", { name: "a", person }, as("ann"));
  const made = await app.make("ann", ["tasks:*"]);
  const queries = [
    "?populate=person",
    "?populate=person&limit=1",
    ...[{ "person.name": "Ada" }, { $nor: [{ "person.name": "Ada" }] }].map(asQuery),
    asQuery({ $or: [{ name: "x" }, { $and: [{ "person.name": { $ne: "x" } }] }] }),
  ];
  for (const query of queries) {
    const parameters = Object.fromEntries(new URLSearchParams(query));
    const requests = [{ id: "1", method: "GET", path: `/tasks${query}` }];
    const answers = [
      await app.get(`/tasks${query}`, by(made)),
      await app.send("HEAD", `/tasks${query}`, by(made)),
      await app.send("QUERY", "/tasks", { ...by(made), body: parameters }),
      await app.post("/batch", { requests }, by(made)),
    ];
    assertEquals([query, ...answers.map(({ status }) => status)], [query, 403, 403, 403, 403]);
    assertEquals(Object(answers[0]?.body).scope, "people:one");
  }
});

test("a missing scope undoes a batch, which never reaches the routes of keys", async () => {
  await using app = await mountKeyed({ batch });
  const made = await app.make("ann", ["people:create"]);
  const requests = [
    { id: "1", method: "POST", path: "/people", body: { name: "Ada" } },
    { id: "2", method: "GET", path: "/tasks" },
  ];
  assertEquals((await app.post("/batch", { requests }, by(made))).status, 403);
  assertEquals(await mongoose.connection.collection("assignees").countDocuments(), 0);
  const body = { name: "n", scopes: ["people:all"] };
  const ofKeys = { requests: [{ id: "1", method: "POST", path: "/keys", body }] };
  for (const own of [as("ann"), by(made)]) {
    assertEquals((await app.post("/batch", ofKeys, own)).status, 400);
  }
});

/** Serves tasks and people in all ways, with tools that only a token or a key opens. */
async function openGuardedTools() {
  const api = Framework.initialize({
    ...{ ...keyedOptions(), models: [Task, Assignee], batch, queryMethod: true },
    guard: (req) => apiKeyOf(req) !== undefined || req.headers["x-user"] !== undefined,
  });
  const app = express();
  app.use(express.json(), api);
  const tools = await serveTools(app, await sharedReplicaSet());
  const authorization = {
    resource: "http://127.0.0.1/mcp",
    servers: ["https://login.example"],
    verify: () => Promise.resolve(undefined),
  };
  const hosts = [new URL(tools.url).host];
  app.use("/mcp", mcp(api, { expose: [{ model: Assignee }], hosts, authorization }));
  app.use(Framework.errors());
  return tools;
}

const JSON_TYPE = { "content-type": "application/json" };

const LISTED = JSON.stringify({ requests: [{ id: "1", method: "GET", path: "/people" }] });

const WAYS: readonly [string, string, RequestInit?][] = [
  ["GET", "/people"],
  ["HEAD", "/people"],
  ["GET", "/people?q={"],
  ["GET", "/people", { headers: { accept: "application/problem+json" } }],
  ["GET", "/people", { headers: { accept: "text/event-stream" } }],
  ["QUERY", "/people", { headers: JSON_TYPE, body: "{}" }],
  ["POST", "/people", { headers: JSON_TYPE, body: "{}" }],
  ["POST", "/batch", { headers: JSON_TYPE, body: LISTED }],
  ["GET", "/keys"],
  ["POST", "/keys", { headers: JSON_TYPE, body: "{}" }],
  ["DELETE", `/keys/${NOBODY}`],
  ["GET", `/tasks/${NOBODY}/history`],
  ["POST", "/mcp", { headers: JSON_TYPE, body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}` }],
];

test("in each way, the 401 of a revoked, rotated, expired or unknown key is the same", async () => {
  await using app = await openGuardedTools();
  const make = async (more = {}) => {
    const given = { name: "n", scopes: ["**:*"], ...more };
    return (await app.post<MadeKey>("/keys", given, as("ann"))).body;
  };
  const [ended, rotated] = [await make(), await make()];
  const expired = await make({ expiresAt: new Date(Date.now() + 100).toISOString() });
  await app.delete(`/keys/${ended.id}`, as("ann"));
  await app.post(`/keys/${rotated.id}/rotate`, undefined, as("ann"));
  await pause(120);
  const texts = [ended.key, rotated.key, expired.key, makeKey().text, "mgv_"];
  for (const [method, path, init] of WAYS) {
    const answers = await Promise.all(texts.map(async (key) => {
      const headers = { ...init?.headers as Record<string, string>, "x-api-key": key };
      const answer = await fetch(app.url + path, { method, ...init, headers });
      const kept = [...answer.headers].filter(([name]) => name !== "date");
      return JSON.stringify([answer.status, kept, await answer.text()]);
    }));
    assertEquals([path, new Set(answers).size], [path, 1], answers.join("\n"));
    assertMatch(answers[0] ?? "", /^\[401,.*invalid_token/);
  }
});

test("a key counts as the token of an assistant, and a login of the application does not", async () => {
  await using app = await openGuardedTools();
  const given = { name: "n", scopes: ["people:all"] };
  const { body: { key } } = await app.post<MadeKey>("/keys", given, as("ann"));
  const params = { name: "list", arguments: { model: "Assignee" } };
  const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  const status = async (headers: object) => (await app.rpc(call, headers)).status;
  assertEquals(await status({ authorization: `Bearer ${key}` }), 200);
  assertEquals(await status({ "x-api-key": key }), 200);
  assertEquals(await status({ "x-user": "ann" }), 401);
  assertEquals(await status({ authorization: "Bearer foreign" }), 401);
  assertEquals(await status({ authorization: "Bearer foreign", "x-api-key": key }), 400);
});

@rest({ route: "/films", methods: [all({ page: { max: 5 } }), one(), create()] })
class Film extends FrameworkModel {
  @rest({ methods: [one(), replace()] })
  @prop({ type: StoredFile, maxBytes: 100 })
  poster?: StoredFile;
}

test("an upload whose key ends meanwhile stores nothing", async () => {
  let isActive = true;
  await using app = await mountKeyed({
    models: [Film],
    keys: { owner: () => isActive ? {} : undefined },
  });
  const { _id } = await app.created("/films", {}, as("ann"));
  const endings: readonly ((made: MadeKey) => Promise<unknown>)[] = [
    ({ id }) => app.delete(`/keys/${id}`, as("ann")),
    ({ expiresAt }) => pause(Math.max(0, Date.parse(expiresAt ?? "") - Date.now() + 20)),
    () => Promise.resolve(isActive = false),
  ];
  for (const [index, end] of endings.entries()) {
    const soon = { expiresAt: new Date(Date.now() + (index === 1 ? 400 : 60_000)).toISOString() };
    const made = await app.make("ann", ["films:one", "films/poster:replace"], soon);
    const own = [
      `X-API-Key: ${made.key}`,
      "Content-Type: text/plain",
      "Transfer-Encoding: chunked",
    ];
    const head = message(`/films/${_id}/poster`, { lines: own }).replace("GET", "PUT");
    const before = () => pause(100).then(() => end(made));
    const pieces = [{ text: `${head}3\r\nabc\r\n` }, { text: "3\r\ndef\r\n0\r\n\r\n", before }];
    assertEquals([index, statusesIn(await sendRaw(app, pieces))], [index, [401]]);
  }
  assertEquals((await app.get(`/films/${_id}/poster`, as("ann"))).status, 404);
});

test("a live list ends after the end of its key, and of its owner's rights", async () => {
  let isActive = true;
  const owner = () => isActive ? {} : undefined;
  await using app = await mountKeyed({ keys: { owner }, limits: { live: { renewMS: 100 } } });
  const soon = { expiresAt: new Date(Date.now() + 400).toISOString() };
  const expiring = await app.make("ann", ["people:all"], soon);
  const lasting = await app.make("ann", ["people:all"]);
  await using first = await openLive(`${app.url}/people`, { "x-api-key": expiring.key });
  await using second = await openLive(`${app.url}/people`, { "x-api-key": lasting.key });
  await first.ready();
  await second.ready();
  await first.ended();
  isActive = false;
  await second.ended();
});

test("owners with like identifiers of different types are different", async () => {
  const actors: Record<string, unknown> = {
    number: 1,
    text: "1",
    id: new mongoose.Types.ObjectId(NOBODY),
    idText: NOBODY,
    operator: "$ne",
  };
  const actor = (req: FrameworkRequest) => actors[String(req.headers["x-user"])] as string;
  await using app = await mountKeyed({ actor });
  for (const name of Object.keys(actors)) await app.make(name, ["people:all"]);
  for (const [name, owner] of Object.entries(actors)) {
    const { body } = await app.get<{ owner: unknown }[]>("/keys", as(name));
    assertEquals(body.map((each) => each.owner), [JSON.parse(JSON.stringify(owner))]);
  }
});

const GOOD = `"name":"n","scopes":["people:all"]`;

const ODD_BODIES: readonly string[] = [
  `{${GOOD},"__proto__":{"owner":"bob"}}`,
  `{${GOOD},"constructor":{}}`,
  `{${GOOD},"owner":"bob"}`,
  `{${GOOD},"tenant":"x"}`,
  `{${GOOD},"expiresAt":1e400}`,
  `{${GOOD},"expiresAt":4102444800000}`,
  `{${GOOD},"expiresAt":{"$date":"2100-01-01"}}`,
  `{${GOOD},"expiresAt":"2100-02-30"}`,
  `{${GOOD},"expiresAt":"2100-02-30T00:00:00Z"}`,
  ...["__proto__:all", "people:__proto__", "people/**:**", "../people:all", "PEOPLE:all"]
    .map((scope) => JSON.stringify({ name: "n", scopes: [scope] })),
  ...["people:all\n", " people:all", "keys:all", "/:all", `${"a/".repeat(40_000)}!`]
    .map((scope) => JSON.stringify({ name: "n", scopes: [scope] })),
  `{"name":"n","scopes":[["people:all"]]}`,
  `{"name":"n","scopes":{"0":"people:all","length":1}}`,
  JSON.stringify({ name: "n", scopes: Array(101).fill("people:all") }),
];

test("odd bodies make no key", async () => {
  await using app = await mountKeyed({});
  const send = async (body: string, type = "application/json") => {
    const headers = { "content-type": type, "x-user": "ann" };
    const answer = await fetch(`${app.url}/keys`, { method: "POST", headers, body });
    await answer.body?.cancel();
    return answer.status;
  };
  for (const body of ODD_BODIES) {
    assertEquals([body.slice(0, 99), await send(body)], [body.slice(0, 99), 400]);
  }
  // A form of another site could send these.
  for (const type of ["text/plain", "application/x-www-form-urlencoded"]) {
    assertEquals(await send(`{${GOOD}}`, type), 415);
  }
  assertEquals((await app.get("/keys", as("ann"))).body, []);
});
