import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { stub } from "@std/testing/mock";
import express, { type RequestHandler } from "express";
import { all, Framework, FrameworkModel, prop, rest } from "../../mod.ts";
import type { FrameworkRequest } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import type { McpAuthorization, McpToken } from "@mongrove/mongrove/mcp";
import { requestRaw } from "../harness/request_raw.ts";
import { test } from "../harness/testing.ts";
import { serveTools } from "./mcp.ts";

const seen: unknown[] = [];

function see(req: FrameworkRequest) {
  const { rawHeaders, headersDistinct, headers, session } = req as unknown as {
    readonly [name: string]: unknown;
  };
  seen.push({ rawHeaders, headersDistinct, headers, session });
  return {};
}

@rest({ route: "/keys", scope: see, methods: [all({ page: { max: 10 } })] })
class Key extends FrameworkModel {
  @prop()
  text?: string;
}

const api = Framework.initialize({ models: [Key] });

interface Opening {
  readonly authorization?: Partial<McpAuthorization>;
  readonly hosts?: readonly string[];
  readonly before?: RequestHandler;
  readonly path?: string;
}

async function openKeys({ authorization, hosts = [], before, path = "/mcp" }: Opening = {}) {
  const app = express();
  const served = await serveTools(app);
  const resource = served.url + path;
  const assistants = mcp(api, {
    expose: [{ model: Key, operations: ["all"] }],
    hosts,
    authorization: {
      ...{ resource, servers: ["https://login.example"] },
      verify: () => ({ user: { name: "ann" }, audience: resource }),
      ...authorization,
    },
  });
  if (before !== undefined) app.use(before);
  app.use(express.json(), assistants.metadata).use("/mcp", assistants);
  app.use(Framework.errors({ notFound: true }));
  const ask = async (token: string, headers: Readonly<Record<string, string>> = {}) =>
    await served.rpc({
      ...{ jsonrpc: "2.0", id: 1, method: "tools/call" },
      params: { name: "list", arguments: { model: "Key" } },
    }, { authorization: `Bearer ${token}`, ...headers });
  return { ...served, resource, ask };
}

test("a value of verify() of a wrong form is a 503, told", async () => {
  const user = { name: "ann" };
  const values: Record<string, (audience: string) => object> = {
    number: (audience) => ({ user, audience, expiresAt: Date.now() + 3_600_000 }),
    text: (audience) => ({ user, audience, expiresAt: "2999-01-01" }),
    null: (audience) => ({ user, audience, expiresAt: null }),
    scopes: (audience) => ({ user, audience, scopes: "readwrite reads" }),
    set: (audience) => ({ user, audience, scopes: new Set(["read"]) }),
    promise: (audience) => ({ user: Promise.resolve(user), audience }),
    symbol: () => ({ user, audience: [Symbol("a")] }),
    getter: (audience) => ({
      audience,
      get user() {
        throw new Error("no user");
      },
    }),
  };
  let resource = "";
  const verify = (token: string) => values[token]?.(resource) as McpToken | undefined;
  await using keys = await openKeys({ authorization: { scopes: ["read"], verify } });
  resource = keys.resource;
  for (const token of Object.keys(values)) {
    using log = stub(console, "error");
    assertEquals([token, (await keys.ask(token)).status], [token, 503]);
    assertMatch(String(log.calls[0]?.args[0]), /Cannot verify the token of an assistant/);
  }
});

test("whatever verify() throws is a 503, and no form of the token is logged", async () => {
  const token = "a+b/c==";
  const thrown: readonly unknown[] = [
    ...[undefined, null, 0, Symbol(token), Object.create(null), { token }],
    Object.assign(new Error("x"), { stack: { token } }),
    new Error(`https://login.example/?token=${encodeURIComponent(token)}`),
    new AggregateError([new Error(token)], token, { cause: token }),
  ];
  let value: unknown;
  const verify = () => {
    throw value;
  };
  await using keys = await openKeys({ authorization: { verify } });
  for (value of thrown) {
    using log = stub(console, "error");
    assertEquals([value, (await keys.ask(token)).status], [value, 503]);
    assertEquals(log.calls.length, 1);
    assertEquals(/a(\+|%2B)b/i.test(Deno.inspect(log.calls[0]?.args)), false);
  }
});

test("hooks find neither the token nor cookies in any form of the headers", async () => {
  await using keys = await openKeys();
  seen.length = 0;
  const headers = { cookie: "id=s3cret-cookie", "x-own": "kept" };
  assertEquals((await keys.ask("s3cret-token", headers)).status, 200);
  const text = JSON.stringify(seen);
  assertEquals([text.includes("s3cret"), text.includes("kept")], [false, true]);
});

test("a session of a cookie does not reach hooks", async () => {
  const session = { user: "bob" };
  await using keys = await openKeys({
    before: (req, _res, next) => {
      Object.assign(req, { session });
      next();
    },
  });
  seen.length = 0;
  assertEquals((await keys.ask("a")).status, 200);
  assertEquals(seen.map((each) => (each as { session?: object }).session), [undefined]);
});

test("a name of hosts counts in each case, and with the port that is meant anyway", async () => {
  await using keys = await openKeys({
    hosts: ["API.example", "other.example:443"],
    authorization: { resource: "https://keys.example/mcp", verify: () => undefined },
  });
  const rows = [
    ...[["api.EXAMPLE", 401], ["other.example", 401], ["other.example:443", 401]],
    ...[["keys.example:443", 401], ["keys.example:80", 403], ["keys.example:8080", 403]],
    ...[["keys.example@evil.example", 403], ["evil.example/keys.example", 403], ["", 403]],
    ...[["evil.example#keys.example", 403], ["keys.example, evil.example", 403]],
    ...[["x@keys.example", 403], ["keys.example/mcp", 403]],
  ];
  for (const [host, status] of rows) {
    const text = `GET /mcp HTTP/1.1\r\nhost: ${host}\r\nconnection: close\r\n\r\n`;
    assertEquals([host, (await requestRaw(keys.url, text)).status], [host, status]);
  }
});

test("the metadata has no empty list, and a slash at the end of its path changes nothing", async () => {
  for (const path of ["/mcp", "/mcp/", ""]) {
    await using keys = await openKeys({ path, authorization: { scopes: [] } });
    for (const asked of ["", "/", ...path === "" ? [] : ["/mcp", "/mcp/"]]) {
      const url = `/.well-known/oauth-protected-resource${asked}`;
      const { status, body } = await keys.get<Record<string, unknown>>(url);
      assertEquals([asked, status, body.resource], [asked, 200, keys.resource]);
      assertEquals("scopes_supported" in body, false);
    }
  }
});

test("each method and form of the path needs a token", async () => {
  await using keys = await openKeys({ authorization: { verify: () => undefined } });
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  for (const method of ["GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "QUERY", "POST"]) {
    const body = method === "GET" || method === "HEAD" ? undefined : ping;
    for (const path of ["/mcp", "/mcp/", "/MCP", "/mcp?a=1", "/mcp?access_token=a"]) {
      const { status, headers } = await keys.send(method, path, body);
      assertEquals([method, path, status], [method, path, 401]);
      assertMatch(headers.get("www-authenticate") ?? "", /^Bearer resource_metadata="http/);
    }
    for (const path of ["/mcp//", "/mcp/a", "//mcp"]) {
      assertEquals((await keys.send(method, path, body)).status, 404);
    }
  }
});

Deno.test("an authorization has no URL with a user, and no scope that is no text", () => {
  const given = {
    ...{ resource: "https://api.example/mcp", servers: ["https://login.example"] },
    verify: () => undefined,
  };
  for (
    const wrong of [
      ...[{ resource: "https://ann:pw@api.example/mcp" }, { servers: ["https://ann@x.example"] }],
      ...[{ resource: " https://api.example/mcp" }, { resource: "https://api.example/m\ncp" }],
      ...[{ scopes: [5] }, { scopes: [null] }, { scopes: [["read"]] }, { scopes: null }],
      ...[{ resource: new URL(given.resource) }, { resource: null }, { servers: null }],
      ...[{ verify: null }],
    ]
  ) {
    const authorization = { ...given, ...wrong } as unknown as McpAuthorization;
    const expose = [{ model: Key }];
    assertThrows(() => mcp(api, { expose, authorization }), TypeError, `"authorization.`);
  }
});
