import { Buffer } from "node:buffer";
import type { Request } from "express-types";
import { isJsonObject, type JsonObject } from "../schema/fields/json.ts";
import type { Tool } from "./_tools.ts";
import type { McpOptions } from "./options.ts";

/** In this revision of MCP, each request has the version and the capabilities, so the server keeps nothing. */
const STATELESS = "2026-07-28";

/** Clients of these revisions begin with `initialize`, for which this server starts no session. */
const EARLIER = ["2025-11-25", "2025-06-18"] as const;

const CODES = {
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  headerMismatch: -32020,
  unsupportedVersion: -32022,
} as const;

const PREFIX = "io.modelcontextprotocol/";

/** The list of tools stays the same until the process ends, so clients may cache it. */
const CACHED = { ttlMs: 60_000, cacheScope: "private" };

interface ToolServer {
  readonly info: NonNullable<McpOptions["info"]>;
  readonly instructions: string;
  readonly tools: readonly Tool[];
}

interface RpcReply {
  readonly status: number;
  /** The answer to a notification has no body. */
  readonly body?: unknown;
}

interface RpcContext {
  readonly req: Request;
  readonly server: ToolServer;
}

class RpcError extends Error {
  constructor(
    readonly code: keyof typeof CODES,
    message: string,
    readonly options: { readonly status?: number; readonly data?: object } = {},
  ) {
    super(message);
  }
}

export async function answerMessage(message: unknown, context: RpcContext): Promise<RpcReply> {
  if (!isJsonObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string") {
    const problem = "The body is not a request of JSON-RPC 2.0";
    return failureOf(new RpcError("invalidRequest", problem, { status: 400 }));
  }
  const { id, method, params = {} } = message;
  if (id === undefined) return { status: 202 };
  try {
    if (typeof id !== "string" && !Number.isInteger(id)) {
      throw new RpcError("invalidRequest", "The id is neither a text nor an integer", {
        status: 400,
      });
    }
    if (!isJsonObject(params)) {
      throw new RpcError("invalidParams", `"params" is not an object`, { status: 400 });
    }
    const result = await resultOf({ method, params }, context);
    return { status: 200, body: { jsonrpc: "2.0", id, result } };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return failureOf(error, id);
  }
}

function failureOf({ code, message, options: { status = 200, data } }: RpcError, id?: unknown) {
  const isKnown = typeof id === "string" || Number.isInteger(id);
  const error = { code: CODES[code], message, ...data && { data } };
  return { status, body: { jsonrpc: "2.0", ...isKnown && { id }, error } };
}

interface RpcRequest {
  readonly method: string;
  readonly params: JsonObject;
}

async function resultOf(request: RpcRequest, context: RpcContext): Promise<object> {
  const { method, params } = request;
  const { server, server: { info, instructions } } = context;
  const tools = server.tools.map(({ description }) => description);
  const capabilities = { tools: {} };
  if (!isStateless(request, context.req)) {
    if (method === "initialize") {
      const asked = EARLIER.find((version) => version === params.protocolVersion);
      return {
        protocolVersion: asked ?? EARLIER[0],
        capabilities,
        serverInfo: info,
        instructions,
      };
    }
    if (method === "ping") return {};
    if (method === "tools/list") return { tools };
    if (method === "tools/call") return await callTool(params, context);
    throw new RpcError("methodNotFound", "Method not found");
  }
  const complete = (result: object) => ({
    resultType: "complete",
    ...result,
    _meta: { [`${PREFIX}serverInfo`]: info },
  });
  if (method === "server/discover") {
    const supportedVersions = [STATELESS, ...EARLIER];
    return complete({ supportedVersions, capabilities, instructions, ...CACHED });
  }
  if (method === "tools/list") return complete({ tools, ...CACHED });
  if (method === "tools/call") return complete(await callTool(params, context));
  throw new RpcError("methodNotFound", "Method not found", { status: 404 });
}

async function callTool(params: JsonObject, { req, server }: RpcContext): Promise<object> {
  const { name, arguments: args = {} } = params;
  const tool = server.tools.find(({ description }) => description.name === name);
  if (tool === undefined) throw new RpcError("invalidParams", "There is no such tool");
  if (!isJsonObject(args)) throw new RpcError("invalidParams", `"arguments" is not an object`);
  return await tool.call(req, args);
}

/** The headers must match the body: a proxy may have judged the request by them. */
function isStateless({ method, params }: RpcRequest, { headers }: Request): boolean {
  const meta = isJsonObject(params._meta) ? params._meta : {};
  const version = meta[`${PREFIX}protocolVersion`];
  if (method === "initialize" && version === undefined) return false;
  const requested = headers["mcp-protocol-version"];
  // All supported revisions require the header `MCP-Protocol-Version`, so a missing one is an error.
  if (requested === undefined || requested !== (version ?? requested)) {
    throw mismatch("MCP-Protocol-Version");
  }
  const supported: readonly unknown[] = [STATELESS, ...EARLIER];
  if (!supported.includes(requested)) {
    const data = { supported, requested };
    throw new RpcError("unsupportedVersion", "Unsupported protocol version", { status: 400, data });
  }
  if (requested !== STATELESS) return false;
  if (version === undefined || !isJsonObject(meta[`${PREFIX}clientCapabilities`])) {
    const message = `"_meta" lacks the protocol version or the capabilities of the client`;
    throw new RpcError("invalidParams", message, { status: 400 });
  }
  if (headers["mcp-method"] !== method) throw mismatch("Mcp-Method");
  if (method === "tools/call" && decoded(headers["mcp-name"]) !== params.name) {
    throw mismatch("Mcp-Name");
  }
  return true;
}

function mismatch(header: string): RpcError {
  const message = `Header mismatch: ${header} is missing or not what the body says`;
  return new RpcError("headerMismatch", message, { status: 400 });
}

function decoded(header: unknown): string | undefined {
  if (typeof header !== "string") return undefined;
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(header) ?? [];
  return base64 === undefined ? header : Buffer.from(base64, "base64").toString();
}
