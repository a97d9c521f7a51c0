import { assertEquals } from "@std/assert";
import type { Express } from "express-types";
import { getModel } from "../../mod.ts";
import type { Client } from "../support/client.ts";
import { buildApp } from "../../examples/helpdesk/app.ts";
import { Organisation } from "../../examples/helpdesk/organisation.ts";
import { seed } from "../../examples/helpdesk/seed.ts";
import { Ticket } from "../../examples/helpdesk/ticket.ts";
import { ACME, DUNE } from "../../examples/helpdesk/users.ts";
import { openDatabase } from "../harness/database.ts";
import { sharedReplicaSet } from "../support/shared_replica_set.ts";
import { start } from "../support/support.ts";

/** The result of a tool, as far as tests read it. */
export interface ToolResult {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent: Record<string, unknown>;
  readonly isError?: boolean;
}

/** An answer to a JSON-RPC message. */
export interface RpcAnswer<R = Record<string, unknown>> {
  readonly id?: unknown;
  readonly result: R;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** Speaks to tools of `/mcp` as the revision before the stateless one does. */
export function toolsOf(served: Client) {
  const rpc = <R = Record<string, unknown>>(message: unknown, headers = {}) =>
    served.post<RpcAnswer<R>>("/mcp", message, {
      headers: { "mcp-protocol-version": "2025-11-25", ...headers },
    });
  const list = async (headers = {}) => {
    type Listed = { readonly name: string; readonly annotations: Record<string, boolean> };
    const message = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const { body } = await rpc<{ readonly tools: readonly Listed[] }>(message, headers);
    return body.result.tools;
  };
  /** Calls a tool, and gives what it tells; a refusal has `status` and `error`. */
  const call = async (name: string, args: object, headers = {}) => {
    const params = { name, arguments: args };
    const message = { jsonrpc: "2.0", id: 7, method: "tools/call", params };
    const { status, body, text } = await rpc<ToolResult>(message, headers);
    assertEquals([status, body.id, body.error], [200, 7, undefined], text);
    const { content, structuredContent, isError = false } = body.result;
    assertEquals(content, [{ type: "text", text: JSON.stringify(structuredContent) }]);
    assertEquals("error" in structuredContent, isError);
    return structuredContent;
  };
  return { rpc, list, call };
}

/** The header of a user of the help desk. */
export const as = (name: string) => ({ authorization: `Bearer ${name}` });

/** Serves an application over a database of its own, of the MongoDB of the tests or of another one. */
export async function serveTools(app: Express, mongo?: string) {
  const database = await openDatabase(mongo);
  const served = await start(app);
  return {
    ...{ ...served, ...toolsOf(served), database },
    async [Symbol.asyncDispose]() {
      await served.stop();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** Serves the help desk, with its tools. */
export async function openDesk() {
  const desk = await serveTools(buildApp(), await sharedReplicaSet());
  await Promise.all([Ticket, Organisation].map((each) => getModel(each).init()));
  await seed();
  const idOf = async (organisation: typeof ACME) =>
    String((await getModel(Ticket).findOne({ organisation }).orFail())._id);
  return { ...desk, acme: await idOf(ACME), dune: await idOf(DUNE) };
}
