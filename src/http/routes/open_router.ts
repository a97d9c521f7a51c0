// @ts-types="npm:@types/express@^5"
import express from "express";
import type { ErrorRequestHandler, RequestHandler, Router } from "express-types";
import { notFound } from "../../errors/refusals.ts";
import { actingLevel, type Route, takesQueryMethod } from "../../pipeline/request/route.ts";
import type { Endpoint } from "../../pipeline/router_feature.ts";
import { sendError } from "../answer_error.ts";
import { handleEndpoint } from "../handle_endpoint.ts";
import { handleRoute } from "../handle_route.ts";
import { announceQuery, queryRouteOf, readAsGet } from "../query_method.ts";

/**
 * The function that returns the request handler for one combination of settings of Express, such as `strict routing`.
 * `newRouter` returns routers with these settings.
 */
type OpenRoutes = (newRouter: () => Router, caseSensitive: boolean) => RequestHandler;

/**
 * Returns a router that compares paths by the settings `case sensitive routing` and `strict routing` of the
 * application. With other settings, a path could pass the middleware by which the application protects a route, because
 * the middleware does not match the path, and still reach the route.
 */
export function followSettings(open: OpenRoutes): Router {
  const router = express.Router({ mergeParams: true });
  const opened = new Map<string, RequestHandler>();
  const handlerFor = (caseSensitive: boolean, strict: boolean): RequestHandler => {
    const key = `${caseSensitive} ${strict}`;
    const known = opened.get(key);
    if (known !== undefined) return known;
    const newRouter = () => {
      const inner = express.Router({ mergeParams: true, caseSensitive, strict });
      // The application may add callbacks for parameters of paths to the router of the framework, by `router.param()`.
      // Each combination of settings has an inner router, which shares these callbacks, so that they run for all
      // routes.
      return Object.assign(inner, { params: Reflect.get(router, "params") });
    };
    const handler = open(newRouter, caseSensitive);
    opened.set(key, handler);
    return handler;
  };
  // The routes are built here once, so that a wrong path is an error at start-up and not at the first request.
  handlerFor(false, false);
  return router.use((req, res, next) => {
    const { app } = req;
    const serve = handlerFor(app.enabled("case sensitive routing"), app.enabled("strict routing"));
    serve(req, res, next);
  });
}

/** Mounts the routes of models, and the endpoints that belong to no model. */
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

/**
 * Mounts the routes in several routers, one for each first segment of their paths. Express compares a request with each
 * path of a router, so small routers save time.
 */
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
 * Returns the first segment of a path, by which the router for a request is chosen. Returns an empty text if the
 * segment is a parameter or a pattern of Express. Routes with such a segment share a router, which gets the requests
 * that the other routers do not answer.
 */
function firstName(path: string): string {
  return /^\/([\w.-]+)(?=\/|$)/.exec(path)?.[1] ?? "";
}

/**
 * Adds routes to a router. Routes with the same path become one route of Express with several HTTP methods, so that
 * Express compares a request with this path only once.
 */
function addRoutes(router: Router, routes: readonly Route[]): Router {
  const queried = new Set(routes.filter(takesQueryMethod).map(({ path }) => path));
  const paths = new Map<string, ReturnType<Router["route"]>>();
  for (const route of routes) {
    const { path, operation } = route;
    try {
      const mounted = paths.get(path) ?? router.route(path);
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

/** Adds the method `QUERY` to the path of a list. The types of Express do not have this method. */
function mountQuery(mounted: ReturnType<Router["route"]>, route: Route): void {
  const add = Reflect.get(mounted, "query") as (...handlers: RequestHandler[]) => unknown;
  const forms = route.features.parameters;
  const handler = handleRoute(queryRouteOf(route), (req) => readAsGet(req, forms));
  add.call(mounted, announceQuery, handler);
}

/**
 * Answers 404 to a path with an identifier that cannot be decoded, such as `%ff`, because no entity can have it.
 * Express refuses such a path before any handler runs, so only this handler of errors gets the request.
 */
const answerUndecodable: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof URIError) sendError(res, notFound());
  else next(error);
};
