import { assert, assertEquals, assertRejects } from "@std/assert";
import { join } from "node:path";
import { type IncomingMessage, request, type ServerResponse } from "node:http";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import type { EntityBody, ErrorBody } from "../support/client.ts";
import {
  filesOfLogin,
  filesOfPage,
  type LoginApp,
  openLoginApp,
  PASSWORD,
  SESSION_SETTINGS,
  sessionsOf,
} from "./support/login_app.ts";

/** The files of `new --login`, with a live list that asks its hooks often. */
function liveFiles(): Record<string, string> {
  const { "app.ts": app = "", "todo.ts": todo = "", ...files } = filesOfLogin();
  return {
    ...files,
    "app.ts": app.replace("strict: true,", "$& limits: { live: { renewMS: 300 } },"),
    "todo.ts": todo.replace("page: { max: 100 },", "$& live: true,"),
  };
}

/** Reads a live list to its end. */
async function readStream(app: LoginApp, headers: Record<string, string>): Promise<string> {
  const options = { headers: { accept: "text/event-stream", ...headers } };
  const response = await fetch(`${app.url}/todos`, options);
  assertEquals(response.status, 200);
  return await response.text();
}

async function openSessions() {
  const app = await openLoginApp(liveFiles(), SESSION_SETTINGS);
  return { ...app, ...sessionsOf(app) };
}

async function refuseSignUps(app: Awaited<ReturnType<typeof openSessions>>): Promise<void> {
  assertEquals((await app.get("/todos")).status, 401);
  const email = "eve@acme.example";
  const invitation = await app.invite(email);
  assertEquals(await app.signUp("Eve", email, { invitation, role: "admin" }), 400);
  assertEquals(await app.signUp("Eve", email, { invitation, organisation: "bell" }), 400);
  assertEquals(await app.signUp("Eve", "eve@acme.example@elsewhere.example", { invitation }), 400);
  for (const wrong of [undefined, "x", crypto.randomUUID(), { $ne: null }, ["x"]]) {
    assertEquals([wrong, await app.signUp("Eve", email, { invitation: wrong })], [wrong, 200]);
  }
  assertEquals(await app.signUp("Eve", "eve@elsewhere.example", { invitation }), 200);
  assertEquals(await app.users.countDocuments(), 0);
}

test("docs/login.md: sessions of better-auth sign users in, and end their live lists", async () => {
  await using app = await openSessions();
  await refuseSignUps(app);
  const ann = await app.enter("ann@acme.example");
  const bob = await app.enter("bob@bell.example");
  const todo = await app.created("/todos", { title: "Rest" }, ann);
  const stored = await app.users.findOne({ email: "ann@acme.example" });
  assertEquals([todo.organisation, todo.author], ["acme", String(stored?._id)]);
  assertEquals(await app.read<EntityBody[]>("/todos", bob), []);
  assertEquals((await app.get(`/todos/${todo._id}`, bob)).status, 404);
  assertEquals((await app.auth("update-user", { organisation: "bell" }, ann.headers)).status, 400);
  assertEquals((await app.delete(`/todos/${todo._id}`, ann)).status, 403);
  const foreign = { headers: { ...ann.headers, origin: "http://evil.notes.example" } };
  assertEquals((await app.post("/todos", { title: "Forged" }, foreign)).status, 403);

  const open = readStream(app, ann.headers);
  assertEquals((await app.auth("revoke-sessions", {}, ann.headers)).status, 200);
  assert((await open).includes("Rest"));
  assertEquals((await app.get("/todos", ann)).status, 401);
});

test("docs/login.md: an administrator changes the roles of the organisation, and removes users", async () => {
  await using app = await openSessions();
  const ann = await app.enter("ann@acme.example");
  const cem = await app.enter("cem@acme.example");
  const eve = await app.enter("eve@bell.example");
  await app.users.updateMany({ name: "Ann", email: /^(ann|eve)/ }, { $set: { role: "admin" } });
  const [, { _id }] = await app.read<[EntityBody, EntityBody]>("/users", ann);
  assertEquals((await app.get("/users", cem)).status, 403);
  assertEquals((await app.patch(`/users/${_id}`, { role: "admin" }, eve)).status, 404);
  assertEquals((await app.patch(`/users/${_id}`, { role: "owner" }, ann)).status, 400);
  assertEquals((await app.patch(`/users/${_id}`, { organisation: "bell" }, ann)).status, 400);
  assertEquals((await app.patch(`/users/${_id}`, { role: "admin" }, ann)).status, 200);
  assertEquals((await app.get("/users", cem)).status, 200);
  assertEquals((await app.delete(`/users/${_id}`, ann)).status, 204);
  assertEquals((await app.get("/todos", cem)).status, 401);
  assertEquals((await app.signIn("cem@acme.example")).status, 401);
  const left = app.database.connection.collection("account");
  assertEquals(await left.countDocuments(), 2);
});

test("docs/login.md: of administrators who all leave at one moment, one stays", async () => {
  await using app = await openSessions();
  const names = ["ann", "bob", "cem"];
  const admins = [];
  for (const name of names) admins.push(await app.enter(`${name}@acme.example`));
  const stored = await app.users.find().sort({ email: 1 }).toArray();
  for (let round = 0; round < 8; round++) {
    await app.users.updateMany({}, { $set: { role: "admin" }, $unset: { leftAt: "" } });
    const statuses = await Promise.all(
      admins.map(async (admin, index) =>
        (await app.patch(`/users/${stored[index]?._id}`, { role: "member" }, admin)).status
      ),
    );
    const left = await app.users.countDocuments({ role: "admin" });
    assertEquals(left, statuses.filter((status) => status !== 200).length);
    assert(left > 0);
  }
  await app.users.updateMany({}, { $set: { role: "admin" }, $unset: { leftAt: "" } });
  await Promise.all(
    admins.map((admin, index) => app.delete(`/users/${stored[index]?._id}`, admin)),
  );
  assert(await app.users.countDocuments({ role: "admin" }) > 0);
});

test("new --login: a restart without AUTH_SECRET keeps the sessions, and production needs one", async () => {
  const { AUTH_SECRET: _, ...settings } = SESSION_SETTINGS;
  await using app = await openLoginApp(filesOfLogin(), settings);
  const { enter } = sessionsOf(app);
  const ann = await enter("ann@acme.example");
  await using again = await app.startAgain(settings);
  assertEquals((await again.get("/todos", ann)).status, 200);
  const { mode } = await Deno.stat(join(app.folder, ".auth_secret"));
  assertEquals((mode ?? 0) & 0o777, 0o600);
  for (const production of [{ NODE_ENV: "production" }, { APP_URL: "https://notes.example" }]) {
    await assertRejects(
      () => app.startAgain({ ...settings, ...production }),
      Error,
      "AUTH_SECRET is not set",
    );
  }
});

test("docs/login.md: a wrong password is a 401, and many of them a 429", async () => {
  await using app = await openSessions();
  const ann = await app.enter("ann@acme.example");
  assertEquals((await app.signIn("ann@acme.example", "wrong horse battery")).status, 401);
  assertEquals((await app.auth("sign-out", {}, ann.headers)).status, 200);
  assertEquals((await app.get("/todos", ann)).status, 401);
  for (let left = 30; left > 0; left--) await app.signIn("ann@acme.example", "guess");
  assertEquals((await app.signIn("ann@acme.example")).status, 429);
  // better-auth resolves the segments of these paths, and would sign the user in.
  for (const path of ["x/../sign-in/email", "%2e/sign-in/email", "./sign-in/email"]) {
    assertEquals([path, await statusOfRaw(app.url, `/api/auth/${path}`)], [path, 429]);
  }
});

/** Sends a sign-in to a path exactly as it is given. `fetch()` would resolve its segments. */
function statusOfRaw(url: string, path: string): Promise<number | undefined> {
  const headers = { "content-type": "application/json", origin: SESSION_SETTINGS.APP_URL };
  const { hostname: host, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const req = request({ host, port, path, method: "POST", headers }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode));
    });
    req.on("error", reject).end(JSON.stringify({ email: "ann@acme.example", password: "guess" }));
  });
}

test("docs/login.md: a user whose address nobody has verified gets a 401", async () => {
  await using app = await openSessions();
  const ann = await app.enter("ann@acme.example");
  assertEquals((await app.get("/todos", ann)).status, 200);
  // Another provider may sign such a user in.
  await app.users.updateOne({ email: "ann@acme.example" }, { $set: { emailVerified: false } });
  assertEquals((await app.get("/todos", ann)).status, 401);
});

/** The files of `new --login` with the lines of docs/login.md. */
async function keyedFiles(): Promise<Record<string, string>> {
  const page = await Deno.readTextFile(new URL("../../docs/login.md", import.meta.url));
  const [, block = ""] = /\n## Keys\n[^]*?```ts ignore\n([^]*?)```/.exec(page) ?? [];
  const [owner = "", plugins = "", line = ""] = block.split("\n").filter((each) =>
    !each.startsWith("//")
  );
  const { "app.ts": app = "", "login.ts": login = "", ...files } = filesOfLogin();
  const from = "@mongrove/mongrove/keys";
  return {
    ...files,
    "app.ts": app.replace(/(?=\/\*\* Builds)/, `${owner}\n`)
      .replace("strict: true,", `$& ${plugins}`)
      .replace(
        "import { Framework }",
        `import { keys } from "${from}";\nimport { getModel, Framework }`,
      ),
    "login.ts": `import { apiKeyOf } from "${from}";\n${login}`
      .replace(/signedIn\(req: GuardRequest\).*\{\n/, `$&  ${line}\n`),
  };
}

test("docs/login.md: keys sign programs in, and end with their user", async () => {
  const opened = await openLoginApp(await keyedFiles(), SESSION_SETTINGS);
  await using app = { ...opened, ...sessionsOf(opened) };
  const ann = await app.enter("ann@acme.example");
  const given = { name: "program", scopes: ["todos:*"] };
  const { key } = await app.created<{ readonly key: string }>("/keys", given, ann);
  const headers = { "x-api-key": key };
  const todo = await app.created("/todos", { title: "Rest" }, { headers });
  const { _id } = await app.users.findOne({ email: "ann@acme.example" }) ?? {};
  assertEquals([todo.organisation, todo.author], ["acme", String(_id)]);
  assertEquals((await app.get("/users", { headers })).status, 403);
  await app.users.deleteOne({ _id: _id as never });
  assertEquals((await app.get("/todos", { headers })).status, 401);
});

test("docs/login.md: fetch() of Node signs in with the origin of the application", async () => {
  const opened = await openLoginApp(filesOfLogin(), SESSION_SETTINGS);
  await using app = { ...opened, ...sessionsOf(opened) };
  await app.enter("ann@acme.example");
  const body = { email: "ann@acme.example", password: PASSWORD };
  const send = (headers: Record<string, string>) =>
    app.post<ErrorBody>("/api/auth/sign-in/email", body, {
      headers: { "sec-fetch-mode": "cors", ...headers },
    });
  const refused = await send({});
  assertEquals([refused.status, refused.body.code], [403, "MISSING_OR_NULL_ORIGIN"]);
  assertEquals((await send({ origin: SESSION_SETTINGS.APP_URL })).status, 200);
});

const RSA = { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" };

/** Makes a key of an identity provider. */
async function makeKey(kid: string) {
  const generated = { ...RSA, modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  const { privateKey, publicKey } = await crypto.subtle.generateKey(generated, true, [
    "sign",
    "verify",
  ]);
  const jwk = { ...await crypto.subtle.exportKey("jwk", publicKey), kid, use: "sig", alg: "RS256" };
  return { kid, jwk, privateKey };
}

type Key = Awaited<ReturnType<typeof makeKey>>;

function toText(value: object | ArrayBuffer): string {
  const bytes = value instanceof ArrayBuffer
    ? new Uint8Array(value)
    : new TextEncoder().encode(JSON.stringify(value));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

/** Signs a token, with other claims and another head if they are given. */
async function sign(
  { kid, privateKey }: Key,
  { seconds = 60, head = {}, ...others }: Record<string, unknown> & { head?: object } = {},
): Promise<Record<"authorization", string>> {
  const exp = Math.floor(Date.now() / 1000) + Number(seconds);
  const claims = { iss: "idp", aud: "notes", sub: "ann", exp, organisation: "acme", ...others };
  const text = `${toText({ alg: "RS256", kid, ...head })}.${toText(claims)}`;
  const bytes = await crypto.subtle.sign(RSA.name, privateKey, new TextEncoder().encode(text));
  return { authorization: `Bearer ${text}.${toText(bytes)}` };
}

const TOKEN_APP = `import { Framework } from "@mongrove/mongrove";
import express from "express";
import { Todo } from "./todo.ts";
import { signedIn } from "./tokens.ts";

export function buildApp() {
  const app = express();
  app.use(express.json());
  app.use(Framework.initialize({
    models: [Todo],
    strict: true,
    guard: signedIn,
    actor: (req) => req.user?.id,
    tenant: (req) => req.user?.organisation ?? undefined,
    limits: { live: { renewMS: 300 } },
  }));
  app.use(Framework.errors({ notFound: true }));
  return app;
}
`;

/** Starts the application with tokens, and an identity provider whose keys can be changed. */
async function openTokens() {
  const published: { keys?: Key[] } = {};
  const provider = await serve((_req: IncomingMessage, res: ServerResponse) => {
    res.writeHead(published.keys ? 200 : 500, { "content-type": "application/json" });
    res.end(JSON.stringify({ keys: published.keys?.map(({ jwk }) => jwk) }));
  });
  const { "tokens.ts": tokens = "" } = await filesOfPage("docs/login.md", ["Tokens"]);
  // A provider may rotate its keys at any time. jose waits 30 seconds before it asks for keys again.
  const impatient = tokens.replace('"JWKS_URL"))', "$&, { cooldownDuration: 0 }");
  const env = { JWKS_URL: provider.url, ISSUER: "idp", AUDIENCE: "notes" };
  const files = { ...liveFiles(), "app.ts": TOKEN_APP, "tokens.ts": impatient };
  const app = await openLoginApp(files, env);
  return {
    ...app,
    published,
    statusFor: async (headers: Record<string, string>) =>
      (await app.get("/todos", { headers })).status,
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      await provider.stop();
    },
  };
}

/** Returns the headers of requests that the application refuses, by what is wrong with them. */
async function wrongTokens([first, second, strange]: readonly [Key, Key, Key]) {
  return {
    "no token": {},
    "no scheme": { authorization: (await sign(first)).authorization.slice(7) },
    expired: await sign(first, { seconds: -1 }),
    "no expiry": await sign(first, { exp: undefined }),
    "no user": await sign(first, { sub: undefined }),
    "another audience": await sign(first, { aud: "other" }),
    "another issuer": await sign(first, { iss: "other" }),
    "another key": await sign(strange),
    "an unknown key": await sign(second),
    "no algorithm": await sign(first, { head: { alg: "none" } }),
    "an algorithm with a shared secret": await sign(first, { head: { alg: "HS256" } }),
  };
}

test("docs/login.md: tokens of an identity provider sign users in, until they expire", async () => {
  await using app = await openTokens();
  const { published, statusFor } = app;
  const [first, second, strange] = await Promise.all([makeKey("1"), makeKey("2"), makeKey("1")]);
  assertEquals(await statusFor(await sign(first)), 503);
  published.keys = [first];
  assertEquals(await statusFor(await sign(first)), 200);
  const refused = await wrongTokens([first, second, strange]);
  for (const [what, headers] of Object.entries(refused)) {
    assertEquals(await statusFor(headers), 401, what);
  }
  published.keys = [second];
  assertEquals(await statusFor(await sign(second)), 200);
  assertEquals(await statusFor(await sign(first)), 401);

  const ann = { headers: await sign(second) };
  const bob = { headers: await sign(second, { sub: "bob", organisation: "bell", role: "admin" }) };
  const todo = await app.created("/todos", { title: "Rest" }, ann);
  assertEquals([todo.organisation, todo.author], ["acme", "ann"]);
  assertEquals((await app.get(`/todos/${todo._id}`, bob)).status, 404);
  assertEquals((await app.delete(`/todos/${todo._id}`, ann)).status, 403);
  assertEquals(await statusFor(await sign(second, { organisation: 7 })), 500);
  assert((await readStream(app, await sign(second, { seconds: 2 }))).includes("Rest"));
});
