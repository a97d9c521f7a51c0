import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
// @ts-types="npm:@types/express@^5"
import type { Router } from "express";
import { queryOf } from "../filter/query_string.ts";
import { followSettings } from "../http/routes/open_router.ts";
import { mountedRoutes, openRoutes } from "../host/initialize.ts";
import type { FrameworkRouter, InitializeOptions } from "../host/initialize.ts";
import type { Route } from "../pipeline/request/route.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { checkOptions } from "./check_options.ts";
import { mountDocs } from "./docs/mount_docs.ts";
import { buildDocument } from "./document.ts";
import { nameOperations } from "./operation_ids.ts";
import type { OpenApiOptions } from "./options.ts";
import { withTemplates } from "./path_templates.ts";
import { routeNode } from "./route_node.ts";

/**
 * Creates a router that describes an API. `GET /openapi.json` returns an OpenAPI 3.1 document, and `GET /docs` returns
 * a documentation page.
 *
 * Mount the router at the path of the API. The document is built at the first request, so it costs nothing until then.
 *
 * @param api The router of `Framework.initialize()`, or the options for one, with `models`.
 * @param options The name and the version of the API, and more.
 * @returns The router.
 * @throws {TypeError} If `api` is neither a router nor options, an option is wrong, or OpenAPI cannot express the path
 * of a route.
 *
 * @example Describe an API
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 * import { openapi } from "@mongrove/mongrove/openapi";
 *
 * @rest({ route: "/films", methods: [all()] })
 * class Film extends FrameworkModel {
 *   @prop({ required: true })
 *   title!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * const api = Framework.initialize({ models: [Film] });
 * app.use(api);
 * app.use(openapi(api, { info: { title: "Films", version: "1.0.0" } }));
 * ```
 */
export function openapi(
  api: FrameworkRouter | InitializeOptions & Required<Pick<InitializeOptions, "models">>,
  options: OpenApiOptions,
): Router {
  checkOptions(options);
  const routes = nameOperations(withTemplates(routesOf(api).map(routeNode)));
  const { info: { title }, servers = [], docs = true } = options;
  const built = new Map<string, Served>();
  return followSettings((newRouter) => {
    const router = newRouter();
    router.get("/openapi.json", (req, res) => {
      const q = isForPage(req.url) ? "content" : options.q ?? "content";
      const { bytes, tag } = built.get(q) ?? serialize(buildDocument(routes, { ...options, q }));
      built.set(q, { bytes, tag });
      res.set({ ETag: tag, "Cache-Control": "no-cache" }).type("json").send(bytes);
    });
    if (docs) mountDocs(router, { title, servers: servers.map(({ url }) => url) });
    return router;
  });
}

interface Served {
  readonly bytes: Buffer;
  readonly tag: string;
}

/**
 * Whether the documentation page requests the document. The page can show `q` only as a parameter with `content`, so
 * the option `q` does not apply to the page.
 */
function isForPage(url: string): boolean {
  return new URLSearchParams(queryOf(url)).get("q") === "content";
}

function serialize(document: object): Served {
  const bytes = Buffer.from(JSON.stringify(document));
  const hash = createHash("sha256").update(bytes).digest("base64url");
  return { bytes, tag: `"${hash}"` };
}

function routesOf(api: unknown): readonly Route[] {
  if (typeof api === "function") {
    const routes = mountedRoutes(api);
    if (routes !== undefined) return routes;
  } else if (isJsonObject(api) && Array.isArray(api.models)) {
    // Without a list of models, the document would describe every registered model.
    return openRoutes(api);
  }
  throw new TypeError(
    "Cannot describe an API: openapi() takes the router of Framework.initialize(), or { models }",
  );
}
