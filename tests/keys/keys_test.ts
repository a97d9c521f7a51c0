import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import type { Express } from "express-types";
import { Framework } from "../../mod.ts";
import { keys } from "../../src/keys/mod.ts";
import { until } from "../support/until.ts";
import { test } from "../harness/testing.ts";
import { Assignee } from "../plugins/plugged.ts";
import { watchCommands } from "../support/both_paths.ts";
import { as, by, type MadeKey, mountKeyed, serveKeyed } from "./keyed.ts";

const DAY_MS = 24 * 3600_000;

test("a key is shown once, and does what its scopes say", async () => {
  await using app = await mountKeyed({});
  const made = await app.make("ann", ["people:all", "people:create"]);
  assertMatch(made.key, /^mgv_[a-z0-9]{8}_[\w-]{43}[0-9A-Za-z]{6}$/);
  assertEquals(made.key.slice(4, 12), made.prefix);
  const lasts = Date.parse(made.expiresAt ?? "") - Date.parse(made.createdAt);
  assert(Math.abs(lasts - 90 * DAY_MS) < 60_000);
  assertEquals((await app.get("/people", by(made))).status, 200);
  const bearer = { headers: { authorization: `bearer ${made.key}` } };
  assertEquals((await app.post("/people", { name: "Ada" }, bearer)).status, 201);
  const refused = await app.get("/people/0123456789abcdef01234567", by(made));
  assertEquals([refused.status, refused.body], [403, {
    code: "FORBIDDEN",
    message: `The key has no scope "people:one"`,
    scope: "people:one",
  }]);
  const listed = await app.get<MadeKey[]>("/keys", as("ann"));
  const { key: _key, lastUsedAt: _none, ...others } = made;
  const [{ lastUsedAt, ...first } = {} as MadeKey, ...more] = listed.body;
  assertEquals([first, more, listed.headers.get("cache-control")], [others, [], "no-store"]);
  await until(async () =>
    (await app.get<MadeKey[]>("/keys", as("ann"))).body[0]?.lastUsedAt !== null
  );
  assert(lastUsedAt === null || Date.parse(lastUsedAt) > 0);
});

/** Ways to send a text as a key, which a server cannot take for a token of another kind. */
function sendings(text: string): Record<string, string>[] {
  const bearer = text.startsWith("mgv_") ? [{ authorization: `Bearer ${text}` }] : [];
  return [{ "x-api-key": text }, ...bearer];
}

test("all keys that are not valid get the same 401, before the guard", async () => {
  const seen: string[] = [];
  const guard = () => seen.push("guard") > 0;
  await using app = await mountKeyed({ guard });
  const soon = { expiresAt: new Date(Date.now() + 300).toISOString() };
  const { key: expired } = await app.make("ann", ["people:*"], soon);
  const { key: ended, id } = await app.make("ann", ["people:*"]);
  assertEquals((await app.delete(`/keys/${id}`, as("ann"))).status, 204);
  await new Promise((resolve) => setTimeout(resolve, 350));
  const unknown = "mgv_abcdefgh_1234567890123456789012345678901234567890123000000";
  const wrong = `${ended.slice(0, -1)}${ended.at(-1) === "0" ? "1" : "0"}`;
  const texts = [expired, ended, wrong, "mgv_", unknown, `${ended}, x`, "junk"];
  seen.length = 0;
  const answers: string[] = [];
  for (const headers of texts.flatMap(sendings)) {
    const { status, text, headers: given } = await app.get("/people", { headers });
    answers.push(`${status} ${text} ${given.get("www-authenticate")} ${[...given.keys()]}`);
  }
  assertEquals([new Set(answers).size, answers.length], [1, 13], answers.join("\n"));
  assertMatch(answers[0] ?? "", /^401 \{.*\} Bearer error="invalid_token"/);
  assertEquals(seen, []);
});

test("two credentials are a 400, and other tokens and the URL are no keys", async () => {
  const prepare = (app: Express) => {
    app.use(express.json(), (req, _res, next) => {
      if (req.headers["x-session"]) Object.assign(req, { user: {} });
      next();
    });
  };
  await using app = await mountKeyed({ prepare });
  const read = async (headers: Record<string, string>, path = "/people") =>
    (await app.get(path, { headers })).status;
  const { key } = await app.make("ann", ["people:*"]);
  assertEquals(await read({ "x-api-key": key, authorization: "Bearer other" }), 400);
  assertEquals(await read({ "x-api-key": key, authorization: `Bearer ${key}` }), 400);
  assertEquals(await read({ "x-api-key": key, "x-session": "1" }), 400);
  assertEquals(await read({ authorization: `Bearer ${key}`, "x-session": "1" }), 400);
  assertEquals(await read({ authorization: "Bearer foreign" }), 403);
  assertEquals(await read({ authorization: "Bearer foreign", "x-user": "ann" }), 200);
  assertEquals(await read({}, `/people?apiKey=${key}&x-api-key=${key}`), 403);
});

test("only a well-formed key is looked up, by one indexed read before the hooks", async () => {
  await using app = await mountKeyed({});
  const made = await app.make("ann", ["people:all"]);
  const uri = app.database.uri;
  const sent = await watchCommands(uri);
  const finds = () =>
    sent.filter(({ command }) => JSON.stringify(command).includes("mongrove_api_keys"));
  await app.get("/people", { headers: { "x-api-key": `${made.key}x` } });
  assertEquals(finds().length, 0);
  await app.get("/people", by(made));
  await until(() => finds().length >= 2);
  await app.get("/people", by(made));
  const names = finds().map(({ name }) => name);
  assertEquals(names.filter((name) => name === "find").length, 2);
  assertEquals(names.filter((name) => name === "update").length, 1, "used once in a minute");
});

test("keys cannot manage keys, and users see only their own", async () => {
  const see = (req: { headers: Record<string, unknown> }) => req.headers["x-user"] === "boss";
  await using app = await mountKeyed({ keys: { see: see as never } });
  const made = await app.make("ann", ["**:*"]);
  const answers = [
    await app.get("/keys", by(made)),
    await app.post("/keys", { name: "x", scopes: ["people:all"] }, by(made)),
    await app.post(`/keys/${made.id}/rotate`, undefined, by(made)),
    await app.delete(`/keys/${made.id}`, by(made)),
    await app.get("/keys"),
  ];
  assertEquals(answers.map(({ status }) => status), [403, 403, 403, 403, 403]);
  assertEquals((await app.get("/keys", as("bob"))).body, []);
  assertEquals((await app.delete(`/keys/${made.id}`, as("bob"))).status, 404);
  assertEquals((await app.post(`/keys/${made.id}/rotate`, {}, as("bob"))).status, 404);
  assertEquals((await app.post(`/keys/${made.id}/rotate`, {}, as("boss"))).status, 404);
  assertEquals((await app.get<MadeKey[]>("/keys", as("boss"))).body.length, 1);
  assertEquals((await app.delete(`/keys/${made.id}`, as("boss"))).status, 204);
  assertEquals((await app.get("/people", by(made))).status, 401);
  const [listed] = (await app.get<MadeKey[]>("/keys", as("ann"))).body;
  assert(listed?.endedAt !== null);
});

test("without an actor, all of /keys is a 403", async () => {
  await using app = await mountKeyed({ actor: () => undefined });
  for (
    const [method, path] of [["GET", ""], ["POST", ""], ["POST", "/x/rotate"], ["DELETE", "/x"]]
  ) {
    const { status } = await app.send(`${method}`, `/keys${path}`, as("ann"));
    assertEquals([method, path, status], [method, path, 403]);
  }
});

test("max holds for requests at once, and expired keys free their places", async () => {
  await using app = await mountKeyed({ keys: { max: 3 } });
  const body = { name: "n", scopes: ["people:all"] };
  const soon = new Date(Date.now() + 400).toISOString();
  const many = await Promise.all(
    Array.from({ length: 12 }, () => app.post("/keys", { ...body, expiresAt: soon }, as("ann"))),
  );
  const statuses = many.map(({ status }) => status).sort();
  assertEquals(statuses, [...Array(3).fill(201), ...Array(9).fill(409)]);
  assertEquals((await app.post("/keys", body, as("bob"))).status, 201);
  await new Promise((resolve) => setTimeout(resolve, 450));
  const after = await app.make("ann", ["people:all"], { expiresAt: null });
  assertEquals(after.expiresAt, null);
  for (const each of [1, 2]) {
    assertEquals([each, (await app.post("/keys", body, as("ann"))).status], [each, 201]);
  }
  assertEquals((await app.post("/keys", body, as("ann"))).status, 409);
  await app.delete(`/keys/${after.id}`, as("ann"));
  assertEquals((await app.post("/keys", body, as("ann"))).status, 201);
});

test("rotate replaces the secret at once, or after an overlap", async () => {
  await using app = await mountKeyed({ keys: { max: 2 } });
  const old = await app.make("ann", ["people:all"]);
  const rotate = (id: string, body?: object) =>
    app.post<MadeKey>(`/keys/${id}/rotate`, body, as("ann"));
  const now = await rotate(old.id);
  assertEquals([now.status, now.body.id, now.body.name, now.body.scopes], [
    201,
    old.id,
    "program",
    ["people:all"],
  ]);
  assertEquals((await app.get("/people", by(old))).status, 401);
  assertEquals((await app.get("/people", by(now.body))).status, 200);
  const later = await rotate(old.id, { overlap: "24h" });
  assertEquals([later.status, later.body.id === old.id], [201, false]);
  for (const each of [now.body, later.body]) {
    assertEquals((await app.get("/people", by(each))).status, 200);
  }
  const listed = (await app.get<MadeKey[]>("/keys", as("ann"))).body;
  const ends = Date.parse(listed.find(({ id }) => id === old.id)?.expiresAt ?? "");
  assert(Math.abs(ends - Date.now() - DAY_MS) < 60_000);
  assertEquals((await rotate(later.body.id, { overlap: "1h" })).status, 409, "both keys count");
  assertEquals((await rotate(later.body.id, { overlap: "8d" })).status, 400);
  assertEquals((await rotate(later.body.id, { overlap: "7d", x: 1 })).status, 400);
  assertEquals((await rotate("x")).status, 404);
});

const ALL = ["people:all"];

const WRONG_BODIES: readonly object[] = [
  {},
  { name: "", scopes: ALL },
  { name: "n", scopes: [] },
  { name: "n", scopes: "people:all" },
  { name: "n", scopes: ALL, other: 1 },
  { name: "n", scopes: ALL, expiresAt: "2001-01-01" },
  { name: "n", scopes: ALL, expiresAt: "soon" },
  ...["people", "persons:all", "people:al", "tasks:one", "tasks:*", "**:*", "people:all*"]
    .map((scope) => ({ name: "n", scopes: [scope] })),
  { name: "n", scopes: ["people:all", "tasks/**:all"] },
];

test("POST /keys refuses what it cannot keep", async () => {
  await using app = await mountKeyed({ keys: { scopes: ["people/**:*", "tasks:all"] } });
  for (const body of WRONG_BODIES) {
    const { status } = await app.post("/keys", body, as("ann"));
    assertEquals([body, status], [body, 400]);
  }
  const good = ["people:*", "people/**:all", "people:all", "people:create", "tasks:all"];
  for (const scope of good) await app.make("ann", [scope]);
  for (const headers of [{ prefer: "return=minimal" }, { "idempotency-key": "k" }]) {
    const own = { headers: { ...as("ann").headers, ...headers } as Record<string, string> };
    assertEquals((await app.post("/keys", { name: "n", scopes: ALL }, own)).status, 400);
  }
});

test("the keys of an owner who has left end", async () => {
  let isActive = true;
  await using app = await mountKeyed({ keys: { owner: () => isActive ? {} : undefined } });
  const made = await app.make("ann", ["people:all"]);
  assertEquals((await app.get("/people", by(made))).status, 200);
  isActive = false;
  assertEquals((await app.get("/people", by(made))).status, 401);
});

test("peppers rotate, and a removed one ends its keys", async () => {
  await using app = await mountKeyed({});
  await using first = await serveKeyed({ pepper: ["a"] });
  await using both = await serveKeyed({ pepper: ["b", "a"] });
  await using last = await serveKeyed({ pepper: ["b"] });
  const made: MadeKey[] = [];
  for (const each of [app, first, both]) made.push(await each.make("ann", ["people:all"]));
  const statuses = async (each: typeof first | typeof app) =>
    await Promise.all(made.map(async (key) => (await each.get("/people", by(key))).status));
  assertEquals(await statuses(app), [200, 401, 401]);
  assertEquals(await statuses(first), [401, 200, 401]);
  assertEquals(await statuses(both), [401, 200, 200]);
  assertEquals(await statuses(last), [401, 401, 200]);
});

test("wrong options are refused at start-up", () => {
  const owner = () => ({});
  const wrong: [object | undefined, string][] = [
    [undefined, `"owner" is not a function`],
    [{}, `"owner" is not a function`],
    [{ owner, sees: owner }, `there is no option "sees"`],
    [{ owner, see: true }, `"see" is not a function`],
    [{ owner, scopes: "people:all" }, `"scopes" is not a list`],
    [{ owner, pepper: [""] }, `"pepper" is not a list`],
    [{ owner, max: 0 }, `"max" is not a positive integer`],
    [{ owner, as: "actor" }, `"as" is not "user"`],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => keys(options as never), TypeError, message);
  }
  const plugins = [keys({ owner, scopes: ["peple:all"] })];
  assertThrows(
    () => Framework.initialize({ models: [Assignee], plugins }),
    TypeError,
    `"peple:all" in "scopes" names no operation`,
  );
});
