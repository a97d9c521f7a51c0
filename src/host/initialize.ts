// @ts-types="npm:@types/express@^5"
import type { Router } from "express";
import type { Model } from "mongoose";
import { checkCopy, checkRegistries, markCopy } from "../declare/model/copies.ts";
import { closeRegistry, registeredModels } from "../declare/model/records.ts";
import { type ErrorContext, Reporter } from "../pipeline/request/reporter.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { Actor, FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { PreFetch } from "../declare/hooks/hooks.ts";
import type { Plugin } from "../declare/plugins/plugin.ts";
import { completeQueryLimits } from "../filter/q/limits.ts";
import { completeBodyLimits } from "../write/body/read_body.ts";
import { forAll } from "../errors/for_all.ts";
import { logLine } from "../errors/log.ts";
import { type OptionKinds, wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import type { BatchOptions } from "../features/batch/option.ts";
import { features } from "../features.ts";
import type { FeatureList } from "../pipeline/feature_list.ts";
import { checkMiddleware } from "../pipeline/check_middleware.ts";
import { checkTransactions } from "../pipeline/check_transactions.ts";
import { planLevel } from "../pipeline/plan_level.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import { completeStrict, type StrictOptions } from "../pipeline/request/strict_parts.ts";
import { pluginEndpoints } from "../pipeline/plugins/plugin_endpoints.ts";
import { PluginSet } from "../pipeline/plugins/plugin_set.ts";
import type { ActorNames } from "../pipeline/actor_names.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { getModel } from "../schema/get_model.ts";
import { hintAtModel } from "../schema/model_hints.ts";
import { followSettings, mountRoutes } from "../http/routes/open_router.ts";
import { refuseRequest } from "../http/check_options.ts";
import { buildRoutes, type RouteSettings } from "../http/routes/build_routes.ts";
import { housekeeper } from "./housekeeper.ts";
import { type Limits, readLimits } from "./limits.ts";
import { checkEndpoints, describeEndpoint } from "../describe/describe_endpoint.ts";
import { describeAccess } from "../describe/describe_access.ts";
import { describeRoute, type RouteDescription } from "../describe/describe_route.ts";

/** Options for all routes of a router. */
export interface InitializeOptions {
  /** The default is all imported models with `@rest`. */
  readonly models?: readonly ModelClass[];
  /**
   * Called with the error of each answer with a 5xx status, and of each answer that `limits.sendMS` has cut. A returned
   * `RestError` answers an unexpected error. Otherwise, the error is logged.
   *
   * While the database is away or clients are too slow, errors of the same cause are reported once a minute, with their
   * `count`.
   */
  readonly onError?: (req: FrameworkRequest, error: unknown, context: ErrorContext) => unknown;
  /** Limits on times, filters, bodies and live lists. */
  readonly limits?: Limits;
  /**
   * The writes that answer 503 until unique indexes are built. By default, these are the writes that set a field of
   * such an index, so that no two entities get the same unique value.
   *
   * With `"required"`, they are all writes of a model. With `"lazy"`, only `replace()` by another field than `_id`, so
   * that duplicates are possible. Without the database right `collStats`, an index that is being built counts as built.
   */
  readonly indexes?: "required" | "lazy";
  /**
   * Refuses undeclared parameters, body keys and values that do not fit, and `removeAll()` without `q`. The start fails
   * for lists without `page`, and for operations without a guard, a `preFetch` hook or `open: true`. An object turns
   * off single checks. The default is `false`.
   */
  readonly strict?: boolean | StrictOptions;
  /**
   * A `preFetch` hook that runs before all others for each request to a route, except to operations with `open: true`.
   * In a batch, it runs for the batch and for each of its requests. It does not guard routes of the application and
   * `openapi()`.
   */
  readonly guard?: PreFetch;
  /**
   * Returns the identifier of the sender, once for each request, after the `preFetch` hooks. `req.framework.actor` has
   * it, and fields with `stamp` store it. A result other than a string, a number, an ObjectId or `undefined` answers
   * 500, even a promise.
   */
  readonly actor?: (req: FrameworkRequest) => Actor | undefined;
  /** Returns the names of users, once for each answer that shows names. */
  readonly actorNames?: (ids: readonly Actor[]) => Promise<ReadonlyMap<unknown, string>>;
  /**
   * Returns the tenant, once for each request, after the `preFetch` hooks. A result other than a string, a number or an
   * ObjectId answers 500, even a promise. Each class must then have the option `tenant` in one `@rest`.
   */
  readonly tenant?: (req: FrameworkRequest) => Actor | undefined;
  /** Plugins, the outermost first. */
  readonly plugins?: readonly Plugin[];
  /**
   * Whether clients can also read a list by the method `QUERY` (RFC 10008), with the parameters as a JSON object in the
   * body. Middleware of `app.get()` does not see these requests.
   */
  readonly queryMethod?: boolean;
  /**
   * With `"listed"`, `q` may name only the paths in the option `filter` of its operation, and is refused without that
   * option. By default, an operation without it accepts each field that the client sees.
   */
  readonly filters?: "listed";
  /**
   * Whether the framework removes expired entities about every ten minutes, until `Framework.close()`. The default is
   * `true`.
   *
   * Only one process at a time removes entities of a database. On routes with `getConnection`, it uses the connections
   * that requests have used. A failed removal is logged once and tried again.
   */
  readonly tidy?: boolean;
  /**
   * The path and the maximum size of batches, whose requests run in order and in one transaction. By default, there are
   * none. Middleware at the path of a route does not see the requests in a batch, but the `guard` and hooks do.
   */
  readonly batch?: BatchOptions;
  /** Whether `initialize()` logs the routes, who may use them, and why reads make Mongoose documents. */
  readonly log?: boolean;
}

export const INITIALIZE_OPTIONS: OptionKinds<InitializeOptions> = {
  models: "list",
  onError: "function",
  limits: true,
  filters: ["listed"],
  indexes: ["required", "lazy"],
  strict: true,
  guard: "function",
  actor: "function",
  actorNames: "function",
  tenant: "function",
  tidy: "boolean",
  plugins: "list",
  queryMethod: "boolean",
  batch: true,
  log: "boolean",
};

/** The router that `Framework.initialize()` returns. */
export interface FrameworkRouter extends Router {
  /** Describes each route of this router. */
  readonly describe: () => RouteDescription[];
}

export function initialize(options: InitializeOptions = {}): FrameworkRouter {
  refuseRequest("initialize", options);
  return initializeWith(features, options);
}

export function initializeWith(
  featureList: FeatureList,
  options: InitializeOptions,
): FrameworkRouter {
  const routes = routesOfOptions(options, featureList);
  if (options.models === undefined) closeRegistry();
  // A wrong model fails at start-up, and builds of indexes begin early.
  forAll(routes, ({ levels: [root], getConnection }) => {
    if (root !== undefined && getConnection === undefined) getModel(root.target);
  });
  forAll(routes, (route) => {
    const { operation, options, writes } = actingLevel(route);
    if (operation === "updateAll" && writes?.atomic) checkTransactions(route);
    checkMiddleware(actingLevel(route));
    options.start(route);
    route.features.startClasses(route);
  });
  for (const { target } of routes.flatMap(({ levels }) => levels)) hintAtModel(target);
  const [settings] = routes;
  settings?.plugins.start(routes);
  const endpoints = endpointsOfOptions(options, routes, featureList);
  const describe = () => describeAll(routes, endpoints);
  if (options.log === true) {
    const ofPlugins = endpoints.flatMap(describeEndpoint).map(lineOf);
    logLine([...routes.map(routeLine), ...ofPlugins].join("\n"));
  }
  const router = Object.assign(followSettings(mountRoutes(routes, endpoints)), { describe });
  const { actorNames } = options;
  mounted.set(markCopy(router), { routes, endpoints, ...actorNames && { actorNames } });
  const jobs = settings?.plugins.all.flatMap((plugin) => plugin.jobs ?? []) ?? [];
  housekeeper.add(routes, { isScheduled: options.tidy !== false, jobs });
  return router;
}

function withAccess(route: Route): RouteDescription {
  return { ...describeRoute(route), access: describeAccess(route) };
}

function describeAll(
  routes: readonly Route[],
  endpoints: readonly Endpoint[],
): RouteDescription[] {
  return [...routes.map(withAccess), ...endpoints.flatMap(describeEndpoint)];
}

function lineOf({ method, path, operation, model, access = [] }: RouteDescription): string {
  return `${method.padEnd(6)} ${[path, operation, model, access.join(", ")].join("  ")}`;
}

function routeLine(route: Route): string {
  const line = lineOf(withAccess(route));
  const level = actingLevel(route);
  const isRead = level.traits.change === undefined && route.getConnection === undefined;
  if (!isRead) return line;
  const compiled: unknown = level.link?.embedded ? undefined : getModel(level.target);
  const { kind, reason } = planLevel(level, compiled as Model<unknown> | undefined);
  return `${line}  ${kind} (${reason})`;
}

interface MountedRouter {
  readonly routes: readonly Route[];
  readonly endpoints: readonly Endpoint[];
  readonly actorNames?: ActorNames;
}

const mounted = new WeakMap<object, MountedRouter>();

export function mountedRoutes(router: object): readonly Route[] | undefined {
  checkCopy(router, "the router");
  return mounted.get(router)?.routes;
}

export function mountedActorNames(router: object): ActorNames | undefined {
  return mounted.get(router)?.actorNames;
}

export function mountedEndpoints(router: object): readonly Endpoint[] {
  return mounted.get(router)?.endpoints ?? [];
}

export function describe(options: InitializeOptions = {}): RouteDescription[] {
  const routes = routesOfOptions(options);
  const [settings] = routes;
  return describeAll(routes, settings ? pluginEndpoints(settings) : []);
}

export function endpointsOfOptions(
  options: InitializeOptions,
  routes: readonly Route[],
  featureList: FeatureList = features,
): Endpoint[] {
  const [settings] = routes;
  const endpoints = [
    ...featureList.endpoints(options, routes),
    ...settings ? pluginEndpoints(settings) : [],
  ];
  checkEndpoints(endpoints, routes);
  return endpoints;
}

export function routesOfOptions(
  options: InitializeOptions,
  featureList: FeatureList = features,
): Route[] {
  const { models = registeredModels() } = options;
  let settings: RouteSettings | undefined;
  const readOptions = (): Route[] => {
    checkOptions(options);
    settings = settingsOf(options, featureList);
    return [];
  };
  const build = () => {
    if (options.models === undefined) checkRegistries();
    // Routes are built even after a wrong option, so that the error also names wrong declarations.
    return Array.isArray(models) ? buildRoutes(models, settings ?? strictOf(options)) : [];
  };
  const strictOf = ({ strict, guard }: InitializeOptions): RouteSettings => {
    const isRight = wrongOption({ guard }, { guard: INITIALIZE_OPTIONS.guard }) === undefined;
    try {
      return settingsOf(
        { ...strict !== undefined && { strict }, ...isRight && { guard } },
        featureList,
      );
    } catch {
      return settingsOf({}, featureList);
    }
  };
  return forAll([readOptions, build], (stage) => stage()).flat();
}

export function settingsOf(
  options: InitializeOptions,
  featureList: FeatureList = features,
): RouteSettings {
  const { onError, limits, filters, indexes, guard, actor, queryMethod } = options;
  const { timeMS, sendMS } = readLimits(limits);
  return {
    maxTimeMS: timeMS,
    sendTimeoutMS: sendMS,
    limits: completeQueryLimits(limits?.query),
    filterPaths: filters,
    bodyLimits: completeBodyLimits(limits?.body),
    features: featureList,
    plugins: new PluginSet(options.plugins ?? [], new Set(featureList.parameters.keys())),
    settings: featureList.settings({ ...options, ...limits }),
    indexes,
    strict: completeStrict(options.strict),
    guard,
    actor,
    queryMethod,
    reporter: new Reporter(onError),
  };
}

function checkOptions(options: InitializeOptions): void {
  forAll(Object.entries(options), ([name, value]) => {
    const option = { [name]: value };
    const unknown = unknownOption(option, INITIALIZE_OPTIONS);
    const wrong = unknown === undefined
      ? wrongOption(option as InitializeOptions, INITIALIZE_OPTIONS)
      : `there is no option ${unknown}`;
    if (wrong !== undefined) throw new TypeError(`Cannot initialize: ${wrong}`);
  });
}
