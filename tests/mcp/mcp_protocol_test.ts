import { assertEquals } from "@std/assert";
import express from "express";
import { all, Framework, FrameworkModel, one, rest } from "../../mod.ts";
import { mcp } from "@mongrove/mongrove/mcp";
import { test } from "../harness/testing.ts";
import { toolsOf } from "./mcp.ts";
import type { RpcAnswer } from "./mcp.ts";
import { start } from "../support/support.ts";

@rest({ route: "/pages", methods: [all(), one()] })
class Page extends FrameworkModel {}

const ORIGIN = "https://assistant.example.org";
const META = "io.modelcontextprotocol";

/** Serves tools, of which none is called: no database is needed. */
async function serveProtocol() {
  const app = express();
  app.use(express.json());
  const api = Framework.initialize({ models: [Page] });
  app.use("/mcp", mcp(api, { expose: [{ model: Page }], origins: [ORIGIN] }));
  app.use(Framework.errors());
  const served = await start(app);
  /** Sends a message as revision 2025-11-25 does, unless the headers are given. */
  const send = (message: unknown, headers: object = { "mcp-protocol-version": "2025-11-25" }) =>
    served.post<RpcAnswer>("/mcp", message, { headers: { ...headers } });
  return { ...served, ...toolsOf(served), ask: send, [Symbol.asyncDispose]: served.stop };
}

const request = (method: string, params?: object) => ({ jsonrpc: "2.0", id: "x", method, params });

function stateless(method: string, { version = "2026-07-28", ...params }: Record<string, unknown>) {
  const _meta = {
    [`${META}/protocolVersion`]: version,
    [`${META}/clientCapabilities`]: {},
  };
  return request(method, { _meta, ...params });
}

const LIST = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
const FUTURE = { ...LIST, "mcp-protocol-version": "2099-01-01" };
const CALL = { ...LIST, "mcp-method": "tools/call", "mcp-name": "describe" };

test("initialize agrees on a revision, and keeps nothing", async () => {
  await using served = await serveProtocol();
  for (
    const [asked, agreed] of [
      ["2025-11-25", "2025-11-25"],
      ["2025-06-18", "2025-06-18"],
      ["2025-03-26", "2025-11-25"],
      ["2024-11-05", "2025-11-25"],
      ["2099-01-01", "2025-11-25"],
    ]
  ) {
    const message = request("initialize", { protocolVersion: asked, capabilities: {} });
    const { status, body, headers } = await served.ask(message);
    assertEquals([status, body.id, body.result.protocolVersion], [200, "x", agreed]);
    assertEquals(body.result.capabilities, { tools: {} });
    assertEquals(body.result.serverInfo, { name: "mongrove", version: "1.0.0" });
    assertEquals(headers.get("mcp-session-id"), null);
  }
  const told = await served.ask({ jsonrpc: "2.0", method: "notifications/initialized" });
  assertEquals([told.status, told.text], [202, ""]);
  const pong: unknown = (await served.ask(request("ping"))).body;
  assertEquals(pong, { jsonrpc: "2.0", id: "x", result: {} });
});

test("a stateless request needs no initialize", async () => {
  await using served = await serveProtocol();
  const listed = await served.ask(stateless("tools/list", {}), LIST);
  const { tools, _meta, ...others } = listed.body.result;
  assertEquals((tools as { name: string }[]).map(({ name }) => name), ["describe", "list", "read"]);
  assertEquals(others, { resultType: "complete", ttlMs: 60_000, cacheScope: "private" });
  assertEquals(_meta, { [`${META}/serverInfo`]: { name: "mongrove", version: "1.0.0" } });
  const discover = { ...LIST, "mcp-method": "server/discover" };
  const { body } = await served.ask(stateless("server/discover", {}), discover);
  const versions = ["2026-07-28", "2025-11-25", "2025-06-18"];
  assertEquals(body.result.supportedVersions, versions);
  const called = await served.ask(stateless("tools/call", { name: "describe" }), CALL);
  assertEquals(called.body.result.structuredContent, {
    models: [{ model: "Page", operations: ["all", "one"] }],
  });
  const encoded = `=?base64?${btoa("describe")}?=`;
  const again = await served.ask(stateless("tools/call", { name: "describe" }), {
    ...{ ...CALL, "mcp-name": encoded },
  });
  assertEquals(again.body, called.body);
});

test("a stateless request whose headers say something else is refused", async () => {
  await using served = await serveProtocol();
  const list = stateless("tools/list", {});
  const call = stateless("tools/call", { name: "describe" });
  const version = "2025-11-25";
  const cases: [message: unknown, headers: Record<string, string>, code: number][] = [
    [list, {}, -32020],
    [list, { ...LIST, "mcp-protocol-version": version }, -32020],
    [list, { ...LIST, "mcp-method": "tools/call" }, -32020],
    [list, { "mcp-protocol-version": LIST["mcp-protocol-version"] }, -32020],
    [call, { ...CALL, "mcp-name": "list" }, -32020],
    [call, { ...LIST, "mcp-method": "tools/call" }, -32020],
    [request("tools/list", {}), LIST, -32602],
    [request("tools/list", { _meta: { [`${META}/protocolVersion`]: "2026-07-28" } }), LIST, -32602],
    [stateless("tools/list", { version: "2099-01-01" }), LIST, -32020],
    [stateless("tools/list", { version: "2099-01-01" }), FUTURE, -32022],
    [request("tools/list", {}), { "mcp-protocol-version": "2024-11-05" }, -32022],
    [stateless("tools/list", { version: 5 }), LIST, -32020],
  ];
  for (const [message, headers, code] of cases) {
    const { status, body, text } = await served.ask(message, headers);
    assertEquals([status, body.id, body.error?.code], [400, "x", code], text);
  }
  const { body } = await served.ask(stateless("tools/list", { version: "2099-01-01" }), FUTURE);
  assertEquals((body.error?.data as { requested: string }).requested, "2099-01-01");
});

test("a stateless request has no method that needs a session", async () => {
  await using served = await serveProtocol();
  for (const method of ["ping", "initialize", "logging/setLevel", "subscriptions/listen"]) {
    const { status, body } = await served.ask(stateless(method, {}), {
      ...{ ...LIST, "mcp-method": method },
    });
    assertEquals([status, body.error?.code], [404, -32601], method);
  }
});

test("what is no request of JSON-RPC is refused", async () => {
  await using served = await serveProtocol();
  const wrong = [
    ...[{}, { jsonrpc: "1.0", id: 1, method: "ping" }, { jsonrpc: "2.0", id: 1 }],
    ...[{ jsonrpc: "2.0", id: 1, method: 5 }, { jsonrpc: "2.0", id: 1, result: {} }],
    ...[{ jsonrpc: "2.0", id: null, method: "ping" }, { jsonrpc: "2.0", id: {}, method: "ping" }],
    ...[{ jsonrpc: "2.0", id: 1.5, method: "ping" }],
  ];
  for (const message of wrong) {
    const { status, body } = await served.ask(message);
    assertEquals([status, body.error?.code], [400, -32600], JSON.stringify(message));
  }
  const params = await served.ask({ jsonrpc: "2.0", id: 1, method: "ping", params: [] });
  assertEquals([params.status, params.body.error?.code], [400, -32602]);
  assertEquals((await served.ask(request("resources/list"))).body.error?.code, -32601);
  for (const params of [{}, { name: "remove" }, { name: "__proto__" }, { name: ["list"] }]) {
    const { status, body } = await served.ask(request("tools/call", params));
    assertEquals([status, body.error?.code], [200, -32602]);
  }
  const args = { name: "describe", arguments: [] };
  assertEquals((await served.ask(request("tools/call", args))).body.error?.code, -32602);
  const text = await served.send("POST", "/mcp", {
    body: "ping",
    headers: { "content-type": "text/plain" },
  });
  assertEquals(text.status, 415);
  assertEquals((await served.post("/mcp", undefined)).status, 415);
});

test("a body is one message, of a revision that its header names", async () => {
  await using served = await serveProtocol();
  const opening = request("initialize", { protocolVersion: "2025-11-25" });
  assertEquals((await served.ask(opening, {})).status, 200);
  const refused: [message: unknown, version: string | undefined, code: number][] = [
    [request("ping"), undefined, -32020],
    [request("ping"), "", -32022],
    [request("ping"), "2025-03-26", -32022],
    [[], "2025-11-25", -32600],
    [[request("ping")], "2025-03-26", -32600],
    [[request("ping")], "2025-06-18", -32600],
    [[request("ping")], undefined, -32600],
  ];
  for (const [message, version, code] of refused) {
    const headers = version === undefined ? {} : { "mcp-protocol-version": version };
    const { status, body, text } = await served.ask(message, headers);
    assertEquals([status, body.error?.code], [400, code], text);
  }
});

test("only POST is allowed, and no page of another origin", async () => {
  await using served = await serveProtocol();
  for (const method of ["GET", "DELETE", "PUT", "OPTIONS"]) {
    const { status, headers } = await served.send(method, "/mcp");
    assertEquals([status, headers.get("allow")], [405, "POST"]);
  }
  const host = new URL(served.url).origin;
  for (const origin of [host, "null", "https://evil.example.org", `${ORIGIN}.evil.org`]) {
    const { status, body } = await served.rpc(request("ping"), { origin });
    assertEquals([status, body.result], [403, undefined], origin);
    assertEquals((await served.get("/mcp", { headers: { origin } })).status, 403);
  }
  assertEquals((await served.rpc(request("ping"), { origin: ORIGIN })).status, 200);
  assertEquals((await served.post("/mcp/pages", request("ping"))).status, 404);
});

test("without a parser of JSON, the host is told what is missing", async () => {
  const seen: unknown[] = [];
  const app = express();
  const api = Framework.initialize({ models: [Page] });
  app.use("/mcp", mcp(api, { expose: [{ model: Page }] }));
  const onError: express.ErrorRequestHandler = (error, _req, res, _next) => {
    seen.push(error.message);
    res.status(500).end();
  };
  app.use(onError);
  const served = await start(app);
  assertEquals((await served.post("/mcp", request("ping"))).status, 500);
  await served.stop();
  assertEquals(seen, [
    "Cannot read the body: no JSON parser is installed, mount express.json() before mcp()",
  ]);
});
