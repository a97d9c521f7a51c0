// @ts-types="npm:@types/express@^5"
import express from "express";
import type { RequestHandler, Router } from "express-types";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";

/** So many are looked through sooner than told apart. */
const FEW = 8;

/** Makes the handler of a route. */
export type MakeHandler = (route: Route) => RequestHandler;

/**
 * Mounts routes on a router. A request is held against those that begin as its path does, not against all: with hundreds
 * of models that would cost more than the request.
 *
 * @throws {TypeError} If a path is none.
 */
export function mountRoutes(
  router: Router,
  routes: readonly Route[],
  makeHandler: MakeHandler,
): void {
  const groups = new Map<string, Route[]>();
  for (const route of routes) {
    const segment = firstSegment(route.path);
    // What begins with a parameter may be meant by any path: then the order of all of them counts.
    if (segment === undefined) return mountAll(router, routes, makeHandler);
    const group = groups.get(segment);
    if (group === undefined) groups.set(segment, [route]);
    else group.push(route);
  }
  if (groups.size <= FEW) return mountAll(router, routes, makeHandler);
  const routers = new Map<string, Router>();
  for (const [segment, group] of groups) {
    const inner = express.Router({ mergeParams: true });
    mountAll(inner, group, makeHandler);
    routers.set(segment, inner);
  }
  router.use((req, res, next) => {
    const inner = routers.get(firstSegment(req.path) ?? "");
    if (inner === undefined) next();
    else inner(req, res, next);
  });
}

/** Mounts one route of the router for each path, with all its verbs. */
function mountAll(router: Router, routes: readonly Route[], makeHandler: MakeHandler): void {
  const paths = new Map<string, ReturnType<Router["route"]>>();
  for (const route of routes) {
    const { path, operation } = route;
    try {
      const mounted = paths.get(path) ?? router.route(path);
      paths.set(path, mounted);
      mounted[operation.verb](makeHandler(route));
    } catch (cause) {
      const { name } = actingLevel(route).target;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`Cannot mount "${name}" at "${path}": ${reason}`, { cause });
    }
  }
}

/** What a path begins with, in lower case as the router does not tell cases apart; `undefined` where that is no mere text. */
function firstSegment(path: string): string | undefined {
  return /^\/([\w.~%-]+)(?=\/|$)/.exec(path)?.[1]?.toLowerCase();
}
