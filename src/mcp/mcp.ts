// @ts-types="npm:@types/express@^5"
import type { Request, RequestHandler, Response } from "express";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { HookFailure } from "../declare/hooks/run_hook.ts";
import { RestError } from "../errors/rest_error.ts";
import { standFor } from "../http/inner_request.ts";
import { type FrameworkRouter, mountedRoutes } from "../host/initialize.ts";
import { admitClient, isSignedIn } from "../pipeline/plugins/admit_client.ts";
import { makeTimeBudget } from "../pipeline/request/request_context.ts";
import type { Route } from "../pipeline/request/route.ts";
import {
  admitCaller,
  checkAuthorization,
  type Refusal,
  refused,
  serveMetadata,
} from "./_authorize.ts";
import { exposedModels } from "./_exposed_models.ts";
import { answerMessage } from "./_protocol.ts";
import { toolsFor } from "./_tools.ts";
import type { McpOptions } from "./options.ts";

const INSTRUCTIONS =
  `Entities of an API. Call "describe" first: it tells which fields, filters and actions a model has for this caller. ` +
  `A refused call says why in "error": correct it and call again.`;

/** The middleware of {@linkcode mcp}. */
export interface McpMiddleware extends RequestHandler {
  /**
   * Middleware that tells assistants which servers issue tokens. It answers below `/.well-known`, so mount it without a
   * path. Without `authorization`, it only calls `next()`.
   */
  readonly metadata: RequestHandler;
}

/**
 * Creates middleware that serves chosen models to AI assistants, by the Model Context Protocol over HTTP.
 *
 * Middleware that guards single paths of the API does not run for assistants. Use the option `guard` and hooks instead.
 *
 * Mount it at a separate path, after the middleware that the API needs, such as `express.json()` and a login. Each call
 * of a tool becomes a request to the API, with the headers of the caller and all properties that middleware has set on
 * `req`. Only actions can remove entities.
 *
 * @param api The router of `Framework.initialize()`.
 * @throws {TypeError} If an option is wrong, or names an operation or action that the API lacks.
 */
export function mcp(api: FrameworkRouter, options: McpOptions): McpMiddleware {
  const tools = toolsFor(api, exposedModels(api, options));
  const { info = { name: "mongrove", version: "1.0.0" }, authorization } = options;
  const { origins = [], hosts = [] } = options;
  // An `authorization` of `undefined`, a missing setting, must not open the endpoint.
  if ("authorization" in options) checkAuthorization(authorization);
  const own = authorization ? [new URL(authorization.resource).host] : [];
  const known = [...hosts, ...own].map(plainHost);
  const [settings] = mountedRoutes(api) ?? [];
  const server = { info, instructions: INSTRUCTIONS, tools };
  const answer = async (req: Request, res: Response) => {
    const caller = authorization === undefined ? req : withoutSession(req);
    const refusal = wrongSender(req, { origins, hosts: known }) ??
      await admitByPlugins(req, { settings, authorization }) ??
      (authorization && !isSignedIn(req) ? await admitCaller(req, authorization) : undefined);
    if (refusal !== undefined) {
      const { status, message, challenge } = refusal;
      if (challenge !== undefined) res.set("WWW-Authenticate", challenge);
      return send(res, { status, body: rpcError(message) });
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
    send(res, await answerMessage(req.body, { req: caller, server }));
  };
  const handler: RequestHandler = (req, res, next) => {
    if (req.path === "/") answer(req, res).catch(next);
    else next();
  };
  const metadata: RequestHandler = authorization === undefined
    ? (_req, _res, next) => next()
    : serveMetadata(authorization, info.name);
  return Object.assign(handler, { metadata });
}

/** To set `session` to `undefined` on the request itself would end the session. */
function withoutSession(req: Request): Request {
  const session = { value: undefined, writable: true, configurable: true };
  return standFor(req, Object.create(req, { session }));
}

/** A request with an API key needs no other token. */
async function admitByPlugins(
  request: Request,
  { settings, authorization }: {
    readonly settings: Route | undefined;
    readonly authorization: McpOptions["authorization"];
  },
): Promise<Refusal | undefined> {
  if (settings === undefined) return undefined;
  const { plugins } = settings;
  try {
    const req = request as FrameworkRequest;
    await admitClient({ req, client: req, plugins, timeBudget: makeTimeBudget(settings) });
    return undefined;
  } catch (error) {
    if (!(error instanceof RestError)) throw error instanceof HookFailure ? error.thrown : error;
    const { status, message, headers: { "WWW-Authenticate": challenge } } = error;
    if (authorization && status === 401) return refused(authorization, "invalid_token");
    return { status, message, ...challenge !== undefined && { challenge } };
  }
}

/** By DNS rebinding, a web page may reach this server under another name. Browsers send its `Origin`. */
function wrongSender(
  { headers: { origin, host = "" } }: Request,
  { origins, hosts }: { readonly origins: readonly string[]; readonly hosts: readonly string[] },
): Refusal | undefined {
  if (origin !== undefined && !origins.includes(origin)) {
    return { status: 403, message: `Origin is not one of "origins"` };
  }
  if (hosts.length === 0 || hosts.includes(plainHost(host))) return undefined;
  return { status: 403, message: `Host is not one of "hosts"` };
}

/** Some proxies add the default port of https, which does not count. */
function plainHost(host: string): string {
  return host.toLowerCase().replace(/:443$/, "");
}

function rpcError(message: string): object {
  return { jsonrpc: "2.0", error: { code: -32600, message } };
}

function send(res: Response, { status, body }: { readonly status: number; body?: unknown }): void {
  res.status(status).set("Cache-Control", "no-store");
  if (body === undefined) res.end();
  else res.type("json").send(JSON.stringify(body));
}
