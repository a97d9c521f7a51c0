import type { Router } from "express-types";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { handleRoute } from "../handle_route.ts";

/**
 * Mounts routes on a router: one route of Express for each path, with all its verbs.
 *
 * @throws {TypeError} If Express cannot read a path.
 */
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
}
