import { assert, assertEquals } from "@std/assert";
import type { IncomingMessage, ServerResponse } from "node:http";
import { join } from "node:path";
import { openDatabase, type TestDatabase } from "../harness/database.ts";
import { startMongo } from "../harness/mongo/start_mongo.ts";
import { serve } from "../harness/serve.ts";
import { test } from "../harness/testing.ts";
import { readSteps } from "../docs/tutorial/read_steps.ts";
import { makeProject, type Project } from "../docs/tutorial/make_project.ts";
import { runCommand } from "../reach/support/run_command.ts";
import { startApp } from "../reach/support/start_app.ts";
import { client, type EntityBody } from "../support/client.ts";
import { until } from "../support/until.ts";

const page = await Deno.readTextFile(new URL("../../docs/login.md", import.meta.url));
const filesBelow = (title: string) => readSteps(page).find((step) => step.title === title)?.files;

/** The versions of the packages of the page. */
const PACKAGES = {
  "better-auth": "npm:better-auth@^1.7",
  "better-auth/": "npm:/better-auth@^1.7/",
  "express-rate-limit": "npm:express-rate-limit@^8",
  jose: "npm:jose@^6",
};

/** Writes the application of the page with one of its logins. Live lists ask their hooks more often than on the page. */
async function makeApp(login: string, change = (code: string) => code): Promise<Project> {
  const project = await makeProject();
  const path = join(project.folder, "deno.json");
  const config = JSON.parse(await Deno.readTextFile(path));
  config.imports = { ...config.imports, ...PACKAGES };
  const files = { ...filesBelow("The application"), ...filesBelow(login) };
  const texts = Object.entries(files).map(([name, text]) => [
    name,
    change(text.replace("renewMS: 10_000", "renewMS: 300")),
  ]);
  await project.write({ ...Object.fromEntries(texts), "deno.json": JSON.stringify(config) });
  const check = ["check", "--quiet", "--no-lock", "main.ts"];
  await runCommand(Deno.execPath(), check, { cwd: project.folder });
  return project;
}

/** Starts the application, with its output in a file. */
async function startPage({ folder }: Project, database: TestDatabase, env: Record<string, string>) {
  const log = join(folder, "log.txt");
  const run = ["run", "-A", "--quiet", "--no-lock", "--no-check", "main.ts"];
  const command = ["sh", "-c", `exec "$0" "$@" > ${log}`, Deno.execPath(), ...run] as const;
  const app = await startApp(command, { cwd: folder, env: { MONGODB_URI: database.uri, ...env } });
  return {
    ...client(app),
    readLog: () => Deno.readTextFile(log),
    /** Reads a live list to its end. */
    async readStream(headers: Record<string, string>): Promise<string> {
      const options = { headers: { accept: "text/event-stream", ...headers } };
      const response = await fetch(`${app.url}/notes`, options);
      assertEquals(response.status, 200);
      return await response.text();
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

const PASSWORD = "correct horse battery";

test("docs/login.md: sessions of better-auth sign users in, and end their live lists", async () => {
  await using project = await makeApp("Sessions");
  await using mongo = await startMongo({ replicaSet: 1 });
  await using database = await openDatabase(mongo.uri);
  const env = { APP_URL: "http://notes.example", AUTH_SECRET: crypto.randomUUID().repeat(2) };
  await using app = await startPage(project, database, env);
  const origin = { origin: env.APP_URL };
  const auth = (path: string, body: object, headers: Record<string, string> = {}) =>
    app.post<Record<string, unknown>>(`/api/auth/${path}`, body, {
      headers: { ...origin, ...headers },
    });
  const signUp = async (name: string, email: string, more: object = {}) =>
    (await auth("sign-up/email", { name, email, password: PASSWORD, ...more })).status;
  const signIn = async (email: string, password: string = PASSWORD) => {
    const { status, headers } = await auth("sign-in/email", { email, password });
    const cookie = headers.getSetCookie().map((each) => each.split(";")[0]).join("; ");
    return { status, headers: { cookie, ...origin } };
  };

  assertEquals((await app.get("/notes")).status, 401);
  assertEquals(await signUp("Eve", "eve@acme.example", { role: "admin" }), 400);
  assertEquals(await signUp("Eve", "eve@acme.example", { organisation: "bell" }), 400);
  assertEquals(await signUp("Eve", "eve@elsewhere.example"), 200);
  assertEquals(await database.connection.collection("user").countDocuments(), 0);
  assertEquals(await signUp("Eve", "eve@acme.example@elsewhere.example"), 400);
  for (const [name, email] of [["Ann", "ann@acme.example"], ["Bob", "bob@bell.example"]] as const) {
    assertEquals(await signUp(name, email), 200);
    assertEquals((await signIn(email)).status, 403);
    let link: string | undefined;
    await until(async () => {
      link = (await app.readLog()).match(`Mail to ${email}: (\\S+)`)?.[1];
      return link !== undefined;
    });
    const { pathname, search } = new URL(link ?? "");
    assertEquals((await app.get(pathname + search)).status, 302);
  }
  const ann = await signIn("ann@acme.example");
  const bob = await signIn("bob@bell.example");
  assertEquals([ann.status, bob.status], [200, 200]);
  assertEquals((await signIn("ann@acme.example", "wrong horse battery")).status, 401);

  const note = await app.created("/notes", { text: "Rest" }, ann);
  const users = database.connection.collection("user");
  const { _id } = await users.findOne({ email: "ann@acme.example" }) ?? {};
  assertEquals([note.organisation, note.author], ["acme", String(_id)]);
  assertEquals(await app.read<EntityBody[]>("/notes", bob), []);
  assertEquals((await app.get(`/notes/${note._id}`, bob)).status, 404);
  assertEquals((await auth("update-user", { organisation: "bell" }, ann.headers)).status, 400);
  assertEquals((await app.patch(`/notes/${note._id}`, { remark: "x" }, ann)).status, 400);
  assertEquals((await app.delete(`/notes/${note._id}`, ann)).status, 403);
  const foreign = { headers: { ...ann.headers, origin: "http://evil.notes.example" } };
  assertEquals((await app.post("/notes", { text: "Forged" }, foreign)).status, 403);

  await users.updateOne({ _id }, { $set: { role: "admin" } });
  assertEquals((await app.patch(`/notes/${note._id}`, { remark: "x" }, ann)).status, 200);
  const open = app.readStream(ann.headers);
  await until(async () => (await app.read<EntityBody[]>("/notes", ann)).length === 1);
  assertEquals((await auth("revoke-sessions", {}, ann.headers)).status, 200);
  assert((await open).includes("Rest"));
  assertEquals((await app.get("/notes", ann)).status, 401);

  const last = await signIn("ann@acme.example");
  assertEquals((await auth("sign-out", {}, last.headers)).status, 200);
  assertEquals((await app.get("/notes", last)).status, 401);
  for (let left = 10; left > 0; left--) await signIn("ann@acme.example", "guess");
  assertEquals((await signIn("ann@acme.example")).status, 429);
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

test("docs/login.md: tokens of an identity provider sign users in, until they expire", async () => {
  // A provider may rotate its keys at any time; jose waits 30 seconds before it asks for keys again
  const impatient = (code: string) => code.replace('"JWKS_URL"))', "$&, { cooldownDuration: 0 }");
  await using project = await makeApp("Tokens", impatient);
  await using mongo = await startMongo({ replicaSet: 1 });
  await using database = await openDatabase(mongo.uri);
  let keys: Key[] | undefined;
  const provider = await serve((_req: IncomingMessage, res: ServerResponse) => {
    res.writeHead(keys ? 200 : 500, { "content-type": "application/json" });
    res.end(JSON.stringify({ keys: keys?.map(({ jwk }) => jwk) }));
  });
  const env = { JWKS_URL: provider.url, ISSUER: "idp", AUDIENCE: "notes" };
  await using app = await startPage(project, database, env);
  const statusFor = async (headers: Record<string, string>) =>
    (await app.get("/notes", { headers })).status;
  const [first, second, strange] = await Promise.all(["1", "2", "1"].map(makeKey));

  assertEquals(await statusFor(await sign(first)), 503);
  keys = [first];
  assertEquals(await statusFor(await sign(first)), 200);
  const refused: Record<string, Record<string, string>> = {
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
  for (const [what, headers] of Object.entries(refused)) {
    assertEquals(await statusFor(headers), 401, what);
  }
  keys = [second];
  assertEquals(await statusFor(await sign(second)), 200);
  assertEquals(await statusFor(await sign(first)), 401);

  const ann = { headers: await sign(second) };
  const bob = { headers: await sign(second, { sub: "bob", organisation: "bell", role: "admin" }) };
  const note = await app.created("/notes", { text: "Rest" }, ann);
  assertEquals([note.organisation, note.author], ["acme", "ann"]);
  assertEquals((await app.get(`/notes/${note._id}`, bob)).status, 404);
  assertEquals((await app.delete(`/notes/${note._id}`, ann)).status, 403);
  assertEquals(await statusFor(await sign(second, { organisation: 7 })), 500);
  assert((await app.readStream(await sign(second, { seconds: 2 }))).includes("Rest"));
  await provider.stop();
});
