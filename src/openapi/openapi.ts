import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
// @ts-types="npm:@types/express@^5"
import type { Router } from "express";
import type { RequestHandler } from "express-types";
import { queryOf } from "../filter/query_string.ts";
import { followSettings } from "../http/routes/open_router.ts";
import {
  endpointsOfOptions,
  type FrameworkRouter,
  type InitializeOptions,
  mountedEndpoints,
  mountedRoutes,
  routesOfOptions,
} from "../host/initialize.ts";
import type { Route } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { checkOpenApiOptions } from "./check_options.ts";
import { keepFresh, mountDocs } from "./docs/mount_docs.ts";
import { buildDocument } from "./document.ts";
import { nameOperations } from "./operation_ids.ts";
import type { OpenApiOptions } from "./options.ts";
import { withTemplates } from "./path_templates.ts";
import { queryNode, routeNode } from "./route_node.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { forbidden, internal } from "../errors/refusals.ts";
import { RestError } from "../errors/rest_error.ts";
import { sendError } from "../http/answer_error.ts";
import type { Reporter } from "../pipeline/request/reporter.ts";

/**
 * Creates a router that serves an OpenAPI document at `/openapi.json`, and a documentation page at `/docs`.
 *
 * Mount it at the path of the API. The first request builds the document.
 *
 * @param api The router of `Framework.initialize()`, or the options for one, with `models`.
 * @throws {TypeError} If `api` is neither a router nor options, an option is wrong, or OpenAPI cannot express the path
 * of a route.
 */
export function openapi(
  api: FrameworkRouter | InitializeOptions & Required<Pick<InitializeOptions, "models">>,
  options: OpenApiOptions,
): Router {
  checkOpenApiOptions(options);
  const { routes: mounted, endpoints } = readApi(api);
  const queryNodes = options.version === "3.2"
    ? mounted.flatMap((each) => queryNode(each) ?? [])
    : [];
  const nodes = [...mounted.map(routeNode), ...queryNodes];
  const routes = nameOperations(withTemplates(nodes));
  const { info: { title }, servers = [], docs = true, see } = options;
  const plugins = mounted[0]?.plugins;
  const guard = see && guardDocument(see, mounted[0]?.reporter);
  const built = new Map<boolean, Served>();
  return followSettings((newRouter) => {
    const router = newRouter();
    if (guard !== undefined) router.get(["/openapi.json", ...docs ? ["/docs"] : []], guard);
    router.get("/openapi.json", (req, res) => {
      const isPage = isForPage(req.url);
      const forms = isPage ? { ...options, ...PAGE_FORMS } : options;
      const { bytes, tag } = built.get(isPage) ??
        serialize(buildDocument({ routes, endpoints, plugins }, forms));
      built.set(isPage, { bytes, tag });
      keepFresh(res).set("ETag", tag).type("json").send(bytes);
    });
    if (docs) mountDocs(router, { title, servers: servers.map(({ url }) => url) });
    return router;
  });
}

interface Served {
  readonly bytes: Buffer;
  readonly tag: string;
}

/** The page supports only this form of the document. */
const PAGE_FORMS = { q: "content", version: "3.1" } as const;

function isForPage(url: string): boolean {
  return new URLSearchParams(queryOf(url)).get("q") === "content";
}

function serialize(document: object): Served {
  const bytes = Buffer.from(JSON.stringify(document));
  const hash = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, tag: `"${hash}"` };
}

interface DescribedApi {
  readonly routes: readonly Route[];
  readonly endpoints: readonly Endpoint[];
}

function readApi(api: unknown): DescribedApi {
  if (typeof api === "function") {
    const routes = mountedRoutes(api);
    if (routes !== undefined) return { routes, endpoints: mountedEndpoints(api) };
  } else if (isJsonObject(api) && Array.isArray(api.models)) {
    // Without `models`, the document would describe every registered model.
    const routes = routesOfOptions(api);
    return { routes, endpoints: endpointsOfOptions(api, routes) };
  }
  throw new TypeError(
    "Cannot describe an API: openapi() takes the router of Framework.initialize(), or { models }",
  );
}

function guardDocument(
  see: NonNullable<OpenApiOptions["see"]>,
  reporter: Reporter | undefined,
): RequestHandler {
  return async (req, res, next) => {
    res.set("Cache-Control", "private, no-store");
    try {
      if (await see(req) !== true) throw forbidden();
    } catch (error) {
      if (error instanceof RestError) return sendError(res, error);
      const context = { method: req.method, route: req.path, class: "", operation: "openapi" };
      const failure = { req: req as FrameworkRequest, error, context };
      return sendError(res, await reporter?.report(failure) ?? internal(error));
    }
    next();
  };
}
