// @ts-types="npm:@types/express@^5"
import type { Request, RequestHandler, Response } from "express";
import type { FrameworkRouter } from "../host/initialize.ts";
import { exposedModels } from "./_exposed_models.ts";
import { answerMessage } from "./_protocol.ts";
import { toolsFor } from "./_tools.ts";
import type { McpOptions } from "./options.ts";

const INSTRUCTIONS =
  `Entities of an API. Call "describe" first: it tells which fields, filters and actions a model has for this caller. ` +
  `A refused call says why in "error": correct it and call again.`;

/**
 * Creates middleware that serves chosen models to AI assistants, by the Model Context Protocol over HTTP.
 *
 * Middleware that guards single paths of the API does not run for assistants. Use the option `guard` and hooks instead.
 *
 * Mount it at a separate path, after the middleware that the API needs, such as `express.json()` and a login. Each call
 * of a tool becomes a request of its caller to the API, with the caller's headers and all properties that middleware
 * has set on `req`. No tool removes entities.
 *
 * @param api The router of `Framework.initialize()`.
 * @param options The exposed models, and options of the server.
 * @returns The middleware.
 * @throws {TypeError} If an option is wrong, or names an operation or action that the API does not have.
 */
export function mcp(api: FrameworkRouter, options: McpOptions): RequestHandler {
  const tools = toolsFor(api, exposedModels(api, options));
  const { info = { name: "mongrove", version: "1.0.0" }, origins = [] } = options;
  const server = { info, instructions: INSTRUCTIONS, tools };
  const answer = async (req: Request, res: Response) => {
    const { origin } = req.headers;
    // By DNS rebinding, a web page may reach this server, so `Host` proves nothing. Browsers send the `Origin` of the
    // page.
    if (origin !== undefined && !origins.includes(origin)) {
      return send(res, { status: 403, body: rpcError(`Origin is not one of "origins"`) });
    }
    if (req.method !== "POST") {
      return send(res.set("Allow", "POST"), {
        status: 405,
        body: rpcError("Only POST is allowed"),
      });
    }
    if (req.body === undefined && !req.is("json")) {
      return send(res, { status: 415, body: rpcError("The Content-Type is not JSON") });
    }
    if (req.body === undefined) {
      throw new Error(
        "Cannot read the body: no JSON parser is installed, mount express.json() before mcp()",
      );
    }
    send(res, await answerMessage(req.body, { req, server }));
  };
  return (req, res, next) => {
    if (req.path === "/") answer(req, res).catch(next);
    else next();
  };
}

function rpcError(message: string): object {
  return { jsonrpc: "2.0", error: { code: -32600, message } };
}

function send(res: Response, { status, body }: { readonly status: number; body?: unknown }): void {
  res.status(status).set("Cache-Control", "no-store");
  if (body === undefined) res.end();
  else res.type("json").send(JSON.stringify(body));
}
