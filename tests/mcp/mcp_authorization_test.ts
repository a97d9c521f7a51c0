import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import express from "express";
import { all, Framework, FrameworkModel, getModel, prop, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import type { McpAuthorization, McpOptions, McpToken } from "@mongrove/mongrove/mcp";
import { longTest, test } from "../harness/testing.ts";
import { requestRaw } from "../harness/request_raw.ts";
import { serveTools } from "./mcp.ts";

const seen: unknown[] = [];

function userOf(req: FrameworkRequest): string {
  const { user, cookies } = req as unknown as { user?: { name: string }; cookies?: object };
  const { authorization, cookie } = req.headers;
  seen.push([authorization, cookie, cookies]);
  return user?.name ?? "";
}

@rest({
  route: "/letters",
  scope: (req) => ({ owner: userOf(req) }),
  methods: [all({ page: { max: 10 } })],
})
class Letter extends FrameworkModel {
  @prop()
  owner?: string;
}

const RESOURCE = "https://api.example/mcp";
const SERVER = "https://login.example";
const METADATA = "https://api.example/.well-known/oauth-protected-resource/mcp";
const user = { name: "ann" };
const HOUR_MS = 3_600_000;
const later = new Date(Date.now() + HOUR_MS);

/** The tokens that are known, and the status of an answer to each. */
const TOKENS: readonly (readonly [string, McpToken | undefined, number])[] = [
  ["good", { user, audience: RESOURCE }, 200],
  ["slash", { user, audience: `${RESOURCE}/` }, 200],
  ["several", { user, audience: ["https://other.example/", RESOURCE], expiresAt: later }, 200],
  ["any", { user, audience: false }, 200],
  ["unknown", undefined, 401],
  ["foreign", { user, audience: "https://api.example/other" }, 401],
  ["origin", { user, audience: "https://api.example" }, 401],
  ["nobody", { user: undefined, audience: RESOURCE }, 401],
  ["unsaid", { user } as unknown as McpToken, 401],
  ["none", { user, audience: [] }, 401],
  ["late", { user, audience: RESOURCE, expiresAt: new Date(Date.now() - 1) }, 401],
  ["never", { user, audience: RESOURCE, expiresAt: new Date(NaN) }, 401],
];

const options = (authorization: Partial<McpAuthorization> = {}): McpOptions => ({
  expose: [{ model: Letter, operations: ["all"] }],
  info: { name: "Letters", version: "1.0.0" },
  hosts: ["localhost:3000"],
  authorization: {
    resource: RESOURCE,
    servers: [SERVER],
    verify: (token) => TOKENS.find(([name]) => name === token)?.[1],
    ...authorization,
  },
});

async function openLetters(authorization?: Partial<McpAuthorization>) {
  const api = Framework.initialize({ models: [Letter] });
  const app = express();
  const assistants = mcp(api, options(authorization));
  app.use((req, _res, next) => {
    Object.assign(req, { user: { name: "of a cookie" }, cookies: { session: "1" } });
    next();
  });
  app.use(express.json(), assistants.metadata);
  app.use("/mcp", assistants);
  app.use(Framework.errors({ notFound: true }));
  const served = await serveTools(app);
  await getModel(Letter).create([{ owner: "ann" }, { owner: "bob" }]);
  const own = new URL(served.url).host;
  /** Sends a message by the name under which the server is known. */
  const ask = async (
    headers: Readonly<Record<string, string>>,
    { host = "api.example", body = LIST } = {},
  ) => {
    const lines = Object.entries({
      ...{ host, connection: "close", "mcp-protocol-version": "2025-11-25" },
      ...{ "content-type": "application/json", "content-length": String(body.length), ...headers },
    }).map(([name, value]) => `${name}: ${value}`);
    const text = `POST /mcp HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body}`;
    return await requestRaw(served.url, text);
  };
  return { ...served, own, ask };
}

const LIST = JSON.stringify({
  ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
  params: { name: "list", arguments: { model: "Letter" } },
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test("a token has a known user, this audience, and time left", async () => {
  await using letters = await openLetters();
  for (const [token, , status] of TOKENS) {
    const answer = await letters.ask(bearer(token));
    assertEquals([token, answer.status], [token, status]);
    if (status === 200) {
      assertMatch(answer.text, /"owner\\?":\\?"ann/);
      assertEquals(answer.text.includes("bob"), false);
    } else {
      const challenge = `Bearer error="invalid_token", resource_metadata="${METADATA}"`;
      assertEquals(answer.headers["www-authenticate"], challenge);
      assertMatch(answer.text, /"A valid token is needed"/);
    }
  }
});

test("a request without a token is a 401 before its message is read", async () => {
  await using letters = await openLetters();
  for (const authorization of ["", "Bearer", "Bearer a b", "Basic Z29vZDo=", "Bearer gäb"]) {
    const { status, headers } = await letters.ask({ authorization }, { body: "[]" });
    assertEquals([authorization, status], [authorization, 401]);
    assertEquals(headers["www-authenticate"], `Bearer resource_metadata="${METADATA}"`);
  }
  assertEquals((await letters.ask({ authorization: "bearer good" })).status, 200);
  assertEquals((await letters.get("/mcp", { headers: { host: "api.example" } })).status, 403);
});

test("hooks see the user, and neither the token nor cookies", async () => {
  await using letters = await openLetters();
  seen.length = 0;
  assertEquals((await letters.ask({ ...bearer("good"), cookie: "session=1" })).status, 200);
  assertEquals([...new Set(seen.map((each) => JSON.stringify(each)))], ["[null,null,{}]"]);
});

test("a token without a scope is a 403 with the scopes that are wanted", async () => {
  const scopes = ["read", "write"];
  const tokens: Record<string, readonly string[] | undefined> = {
    ...{ none: undefined, some: ["read"], all: ["x", "write", "read"] },
  };
  await using letters = await openLetters({
    scopes,
    verify: (token) => {
      const held = tokens[token];
      return { user, audience: RESOURCE, ...held && { scopes: held } };
    },
  });
  const challenge = `resource_metadata="${METADATA}", scope="read write"`;
  for (const token of ["none", "some"]) {
    const { status, headers } = await letters.ask(bearer(token));
    const given = headers["www-authenticate"];
    assertEquals([status, given], [403, `Bearer error="insufficient_scope", ${challenge}`]);
  }
  assertEquals((await letters.ask(bearer("all"))).status, 200);
  const { headers } = await letters.ask({});
  assertEquals(headers["www-authenticate"], `Bearer ${challenge}`);
});

test("an error of verify() is a 503, and the log does not have the token", async () => {
  await using letters = await openLetters({
    verify: async (token) => await Promise.reject(new Error(`no answer about ${token}`)),
  });
  using log = stub(console, "error");
  const { status, headers } = await letters.ask(bearer("s3cret"));
  assertEquals([status, headers["www-authenticate"]], [503, undefined]);
  const [{ args: [line] } = { args: [] }] = log.calls;
  assertMatch(String(line), /Cannot verify the token of an assistant: .*no answer about \[token\]/);
  assertEquals(String(line).includes("s3cret"), false);
});

longTest("verify() has five seconds", async () => {
  await using letters = await openLetters({ verify: () => new Promise(() => {}) });
  using log = stub(console, "error");
  assertEquals((await letters.ask(bearer("slow"))).status, 503);
  assertMatch(String(log.calls[0]?.args[0]), /verify\(\) took 5000 ms/);
});

test("a Host is that of the resource, or one of hosts", async () => {
  await using letters = await openLetters();
  const statusOf = async (host: string) => (await letters.ask(bearer("good"), { host })).status;
  for (const host of ["api.example", "API.example", "localhost:3000"]) {
    assertEquals([host, await statusOf(host)], [host, 200]);
  }
  for (const host of ["evil.example", "api.example.evil.example", "localhost", letters.own]) {
    assertEquals([host, await statusOf(host)], [host, 403]);
  }
});

test("the metadata names the servers, with and without the path of the resource", async () => {
  await using letters = await openLetters({ scopes: ["read"] });
  for (const path of ["/mcp", ""]) {
    const url = `/.well-known/oauth-protected-resource${path}`;
    const { status, headers, body } = await letters.get(url);
    assertEquals([status, body], [200, {
      "resource": RESOURCE,
      "authorization_servers": [SERVER],
      "scopes_supported": ["read"],
      "bearer_methods_supported": ["header"],
      "resource_name": "Letters",
    }]);
    assertEquals(headers.get("access-control-allow-origin"), "*");
    assertEquals(headers.get("cache-control"), "public, max-age=3600");
    assertEquals((await letters.send("OPTIONS", url)).status, 204);
    assertEquals((await letters.post(url, {})).status, 405);
  }
  for (const path of ["/.well-known/oauth-protected-resource/other", "/.well-known", "/"]) {
    assertEquals((await letters.get(path)).status, 404);
  }
});

test("without authorization there is no metadata, and callers are those of middleware", async () => {
  const api = Framework.initialize({ models: [Letter] });
  const assistants = mcp(api, { expose: [{ model: Letter, operations: ["all"] }] });
  const app = express().use(express.json(), assistants.metadata).use("/mcp", assistants);
  app.use(Framework.errors({ notFound: true }));
  await using served = await serveTools(app);
  assertEquals((await served.get("/.well-known/oauth-protected-resource/mcp")).status, 404);
  assertEquals(await served.call("list", { model: "Letter" }), { entities: [] });
});

const api = Framework.initialize({ models: [Letter] });

Deno.test("mcp() refuses a wrong authorization", () => {
  const url = "an https URL without a query";
  const rows: readonly (readonly [object, string])[] = [
    [{ resource: "/mcp" }, `"authorization.resource" is not ${url}`],
    [{ resource: "http://api.example/mcp" }, `"authorization.resource" is not ${url}`],
    [{ resource: `${RESOURCE}?a=1` }, `"authorization.resource" is not ${url}`],
    [{ resource: `${RESOURCE}#` }, `"authorization.resource" is not ${url}`],
    [{ servers: [] }, `"authorization.servers" is not a list with ${url}`],
    [{ servers: SERVER }, `"authorization.servers" is not a list with ${url}`],
    [{ servers: [SERVER, "login"] }, `"authorization.servers" is not a list with ${url}`],
    [{ scopes: "read" }, `"authorization.scopes" is not a list of scopes`],
    [{ scopes: ["read write"] }, `"authorization.scopes" is not a list of scopes`],
    [{ scopes: ['"'] }, `"authorization.scopes" is not a list of scopes`],
    [{ verify: "jwt" }, `"authorization.verify" is not a function`],
    [{ audience: RESOURCE }, `"authorization" has no option "audience"`],
  ];
  for (const [authorization, message] of rows) {
    assertThrows(() => mcp(api, options(authorization)), TypeError, message);
  }
  for (const authorization of ["oauth", undefined, null, []]) {
    const wrong = { ...options(), authorization } as unknown as McpOptions;
    assertThrows(() => mcp(api, wrong), TypeError, `"authorization" is not an object`);
  }
  const hosts = { ...options(), hosts: "x" } as unknown as McpOptions;
  assertThrows(() => mcp(api, hosts), TypeError, `"hosts" is not a list of texts`);
  mcp(api, options({ resource: "http://localhost:3000/mcp", servers: ["http://127.0.0.1:1"] }));
});
