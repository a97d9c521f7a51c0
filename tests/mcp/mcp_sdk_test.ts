import { assertEquals } from "@std/assert";
import { Client as StatelessClient } from "npm:@modelcontextprotocol/client@^2";
import { StreamableHTTPClientTransport as StatelessTransport } from "npm:@modelcontextprotocol/client@^2";
import { Client } from "npm:@modelcontextprotocol/sdk@^1/client/index.js";
import { StreamableHTTPClientTransport } from "npm:@modelcontextprotocol/sdk@^1/client/streamableHttp.js";
import { test } from "../harness/testing.ts";
import { as, openDesk } from "./mcp.ts";

const CUSTOMER = { requestInit: { headers: as("cem") } };
const NAMES = ["describe", "list", "read", "create", "update", "action"];

/** The results of a client, as far as tests read them. */
interface Conversation {
  readonly listTools: () => Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  readonly callTool: (call: { name: string; arguments: Record<string, unknown> }) => Promise<
    { readonly structuredContent?: unknown; readonly isError?: unknown }
  >;
}

/** What a customer does by a client of the official SDK. */
async function converse(client: Conversation, id: string): Promise<void> {
  const { tools } = await client.listTools();
  assertEquals(tools.map(({ name }) => name), NAMES);
  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = await client.callTool({ name, arguments: args });
    return [structuredContent, isError];
  };
  const [listed] = await call("list", { model: "Ticket", select: [] });
  const { entities } = listed as { readonly entities: readonly { readonly title: string }[] };
  assertEquals(entities.map(({ title }) => title), ["Printer on fire"]);
  const [refused, isError] = await call("action", { model: "Ticket", action: "close", id });
  assertEquals([(refused as { status: number }).status, isError], [400, true]);
  const body = { reason: "it is out" };
  const [closed] = await call("action", { model: "Ticket", action: "close", id, body });
  assertEquals((closed as { answer: { state: string } }).answer.state, "closed");
}

test("a client of the SDK opens a conversation by initialize", async () => {
  await using desk = await openDesk();
  const client = new Client({ name: "test", version: "1.0.0" });
  const url = new URL(`${desk.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, CUSTOMER));
  assertEquals(client.getServerVersion(), { name: "Help desk", version: "1.0.0" });
  await client.ping();
  await converse(client, desk.acme);
  await client.close();
});

test("a client of the stateless revision says all with each request", async () => {
  await using desk = await openDesk();
  const client = new StatelessClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  const url = new URL(`${desk.url}/mcp`);
  await client.connect(new StatelessTransport(url, CUSTOMER));
  assertEquals(client.getNegotiatedProtocolVersion(), "2026-07-28");
  await converse(client, desk.acme);
  await client.close();
});
