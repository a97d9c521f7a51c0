// @ts-types="npm:@types/express@^5"
import express from "express";
import type { ErrorRequestHandler, RequestHandler, Router } from "express-types";
import { notFound } from "../../errors/refusals.ts";
import { actingLevel, type Route, takesQueryMethod } from "../../pipeline/request/route.ts";
import type { Endpoint } from "../../pipeline/router_feature.ts";
import { sendError } from "../answer_error.ts";
import { handleEndpoint } from "../handle_endpoint.ts";
import { handleRoute } from "../handle_route.ts";
import { noteMount } from "../trace_request.ts";
import { announceQuery, queryRouteOf, readAsGet } from "../query_method.ts";

type OpenRoutes = (newRouter: () => Router, caseSensitive: boolean) => RequestHandler;

/**
 * With other path settings than the application, a path could pass middleware that protects a route, and still reach
 * it.
 */
export function followSettings(open: OpenRoutes): Router {
  const router = express.Router({ mergeParams: true });
  const opened = new Map<string, RequestHandler>();
  const handlerFor = (caseSensitive: boolean, strict: boolean): RequestHandler => {
    const key = `${caseSensitive} ${strict}`;
    const cached = opened.get(key);
    if (cached !== undefined) return cached;
    const newRouter = () => {
      const inner = express.Router({ mergeParams: true, caseSensitive, strict });
      // Callbacks of `router.param()` must run for all routes.
      return Object.assign(inner, { params: Reflect.get(router, "params") });
    };
    const handler = open(newRouter, caseSensitive);
    opened.set(key, handler);
    return handler;
  };
  // Builds the routes now, so that a wrong path fails at start-up.
  handlerFor(false, false);
  return router.use((req, res, next) => {
    noteMount(req);
    const { app } = req;
    const serve = handlerFor(app.enabled("case sensitive routing"), app.enabled("strict routing"));
    serve(req, res, next);
  });
}

export function mountRoutes(routes: readonly Route[], endpoints: readonly Endpoint[]): OpenRoutes {
  const openRoutes = mountModels(routes);
  const [settings] = routes;
  if (settings === undefined || endpoints.length === 0) return openRoutes;
  return (newRouter, caseSensitive) => {
    const serve = openRoutes(newRouter, caseSensitive);
    const router = newRouter();
    for (const endpoint of endpoints) {
      const handler = handleEndpoint(endpoint, { routes: serve, settings });
      router[endpoint.method](endpoint.path, handler);
    }
    return (req, res, next) =>
      router(req, res, (error) => error ? next(error) : serve(req, res, next));
  };
}

/** Express compares a request with each path of a router, so each first segment has its own router. */
function mountModels(routes: readonly Route[]): OpenRoutes {
  return (newRouter, caseSensitive) => {
    const firstOf = (path: string) => firstName(caseSensitive ? path : path.toLowerCase());
    const names = new Set(routes.map(({ path }) => firstOf(path)));
    const routers = new Map(Array.from(names, (name): [string, Router] => {
      const some = routes.filter(({ path }) => firstOf(path) === name);
      return [name, addRoutes(newRouter(), some)];
    }));
    const others = routers.get("") ?? ((_req, _res, next) => next());
    return (req, res, next) => {
      const named = routers.get(firstOf(req.path)) ?? others;
      if (named === others) return others(req, res, next);
      named(req, res, (error) => error ? next(error) : others(req, res, next));
    };
  };
}

/**
 * A path that begins with a parameter or a pattern has the empty name. Its router gets the requests that no other
 * router answers.
 */
function firstName(path: string): string {
  return /^\/([\w.-]+)(?=\/|$)/.exec(path)?.[1] ?? "";
}

/** Express compares a request with each route, so all methods of a path share a route. */
function addRoutes(router: Router, routes: readonly Route[]): Router {
  const queried = new Set(routes.filter(takesQueryMethod).map(({ path }) => path));
  const paths = new Map<string, ReturnType<Router["route"]>>();
  for (const route of routes) {
    const { path, operation } = route;
    try {
      const mounted = paths.get(path) ?? router.route(encoded(path));
      paths.set(path, mounted);
      if (!queried.has(path)) mounted[operation.verb](handleRoute(route));
      else mounted[operation.verb](announceQuery, handleRoute(route));
      if (takesQueryMethod(route)) mountQuery(mounted, route);
    } catch (cause) {
      const { name } = actingLevel(route).target;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new TypeError(`Cannot mount "${name}" at "${path}": ${reason}`, { cause });
    }
  }
  return router.use(answerUndecodable);
}

const NAME_OR_ENCODED = /([:*](?:"[^"]*"|[\p{ID_Continue}$]+))|[^\x21-\x7e]+/gu;

/** Express compares paths before it decodes them, so paths of routes are encoded. */
function encoded(path: string): string {
  return path.replace(NAME_OR_ENCODED, (text, name?: string) => name ?? encodeURIComponent(text));
}

/** The types of Express do not have `QUERY`. */
function mountQuery(mounted: ReturnType<Router["route"]>, route: Route): void {
  const add = Reflect.get(mounted, "query") as (...handlers: RequestHandler[]) => unknown;
  const forms = route.features.parameters;
  const handler = handleRoute(queryRouteOf(route), (req) => readAsGet(req, forms));
  add.call(mounted, announceQuery, handler);
}

/**
 * Express cannot decode the path, and runs no other handler. No entity has such an identifier, so the answer is 404.
 */
const answerUndecodable: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof URIError) sendError(res, notFound());
  else next(error);
};
