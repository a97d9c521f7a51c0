// @ts-types="npm:@types/express@^5"
import express from "express";
import type { ErrorRequestHandler, Router, RouterOptions } from "express-types";
import { notFound } from "../../errors/refusals.ts";
import { actingLevel, type Route } from "../../pipeline/request/route.ts";
import { sendError } from "../answer_error.ts";
import { handleRoute } from "../handle_route.ts";

/**
 * Makes a router that compares paths as the application does, by its settings `case sensitive routing` and `strict
 * routing`: a path that a guard of the application lets pass as another one is another one here, too.
 */
export function followSettings(addRoutes: (router: Router) => void): Router {
  const router = express.Router({ mergeParams: true });
  const routers = new Map<string, Router>();
  const open = (options: RouterOptions): Router => {
    const key = `${options.caseSensitive} ${options.strict}`;
    const known = routers.get(key);
    if (known !== undefined) return known;
    const opened = express.Router({ mergeParams: true, ...options });
    // Callbacks that the host adds by `router.param()` are for these routes.
    Object.assign(opened, { params: Reflect.get(router, "params") });
    addRoutes(opened);
    routers.set(key, opened);
    return opened;
  };
  // A wrong path fails at start-up.
  open({ caseSensitive: false, strict: false });
  return router.use((req, res, next) => {
    const caseSensitive = req.app.enabled("case sensitive routing");
    open({ caseSensitive, strict: req.app.enabled("strict routing") })(req, res, next);
  });
}

/** Mounts routes on a router: one route of Express for each path, with all its verbs. */
export function mountRoutes(router: Router, routes: readonly Route[]): void {
  const paths = new Map<string, ReturnType<Router["route"]>>();
  for (const route of routes) {
    const { path, operation } = route;
    try {
      const mounted = paths.get(path) ?? router.route(path);
      paths.set(path, mounted);
      mounted[operation.verb](handleRoute(route));
    } catch (cause) {
      const { name } = actingLevel(route).target;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`Cannot mount "${name}" at "${path}": ${reason}`, { cause });
    }
  }
  router.use(answerUndecodable);
}

/** Answers 404 to identifiers that cannot be decoded, such as `%ff`: the router refuses them before any handler runs. */
const answerUndecodable: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof URIError) sendError(res, notFound());
  else next(error);
};
