// @ts-types="npm:@types/express@^5"
import type { Router } from "express";
import type { Model } from "mongoose";
import { closeRegistry, registeredModels } from "../declare/model/records.ts";
import { type ErrorContext, Reporter } from "../pipeline/request/reporter.ts";
import type { ModelClass } from "../declare/model/framework_model.ts";
import type { Actor, FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { MAX_TIME_MS } from "../database/time_budget.ts";
import { completeQueryLimits, type QueryLimits } from "../filter/q/limits.ts";
import { type BodyLimits, completeBodyLimits } from "../write/body/read_body.ts";
import { MAX_TIMER_MS } from "../errors/complete_limits.ts";
import { logLine } from "../errors/log.ts";
import { type OptionKinds, wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import type { BatchOptions } from "../features/batch/option.ts";
import type { LiveLimits } from "../features/live/live_limits.ts";
import { features } from "../features.ts";
import type { FeatureList } from "../pipeline/feature_list.ts";
import { checkTransactions } from "../pipeline/check_transactions.ts";
import { planLevel } from "../pipeline/plan_level.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";
import type { Endpoint } from "../pipeline/router_feature.ts";
import { getModel } from "../schema/get_model.ts";
import { followSettings, mountRoutes } from "../http/routes/open_router.ts";
import { refuseRequest } from "../http/check_options.ts";
import { checkQueryMethod } from "../http/query_method.ts";
import { buildRoutes, type RouteSettings } from "../http/routes/build_routes.ts";
import { housekeeper } from "./housekeeper.ts";
import { describeRoute, type RouteDescription } from "../describe/describe_route.ts";

/**
 * Options for all routes of a router, such as its models, limits and time-outs. `Framework.initialize()` takes them.
 */
export interface InitializeOptions {
  /** The models whose routes are mounted. The default is all imported models with `@rest`. */
  readonly models?: readonly ModelClass[];
  /**
   * A function that is called with the error of each answer with a 5xx status, and of each answer that `sendTimeoutMS`
   * has cut. If the function returns a `RestError` for an unexpected error, this `RestError` is the answer. Otherwise,
   * the error is logged.
   *
   * While the database is not available or clients are too slow, the first error of each cause is reported at once.
   * Further errors of the same cause are reported once a minute, with their `count`.
   */
  readonly onError?: (req: FrameworkRequest, error: unknown, context: ErrorContext) => unknown;
  /** The time that a request may wait for the database in total, in milliseconds. The default is `10000`. */
  readonly maxTimeMS?: number;
  /**
   * The time that a client has to read each 64 KB of an answer, in milliseconds. The connection of a slower client is
   * reset. The default is `60000`.
   */
  readonly sendTimeoutMS?: number;
  /**
   * The writes that answer 503 until unique indexes are built. By default, these are the writes that set a field of
   * such an index, so that no two entities get the same unique value. With `"required"`, all writes of a model answer
   * 503 until all of its unique indexes are built. With `"lazy"`, only `replace()` by another field than `_id` answers
   * 503, so duplicates are possible in other writes. If the user of the database lacks the right `collStats`, an index
   * that is being built counts as built.
   */
  readonly indexes?: "required" | "lazy";
  /**
   * With `"strict"`, requests with parameters that the operation does not declare answer 400. `updateAll()` and
   * `removeAll()` refuse such requests in any case, because a misspelled `q` would select all entities.
   */
  readonly parameters?: "strict";
  /**
   * With `"strict"`, a body answers 400 if it has a key that the model does not declare, a key that the caller cannot
   * set, or a value whose JSON type is not the type of its field. A visible key that the caller cannot set is accepted
   * with the stored value, so that a client can send back an entity that it has read. By default, such keys are
   * ignored, and values are cast as Mongoose casts them.
   */
  readonly bodies?: "strict";
  /**
   * Returns the identifier of the user or program that sends a request, or `undefined`. The function is called once for
   * each request, after the `preFetch` hooks. `req.framework.actor` has the result, and fields with the option `stamp`
   * store it. Anything but a text, a number, an ObjectId or `undefined` answers 500, and so does a promise.
   */
  readonly actor?: (req: FrameworkRequest) => Actor | undefined;
  /**
   * Returns the names of users by their identifiers, as `actor` has returned them. The function is called once for each
   * answer that shows names, such as `GET {route}/:id/history?names`, with the identifiers in this answer.
   */
  readonly actorNames?: (ids: readonly Actor[]) => Promise<ReadonlyMap<unknown, string>>;
  /**
   * Returns the tenant of a request, such as the company of its sender, for classes with the option `tenant`. The
   * function is called once for each request, after the `preFetch` hooks. Anything but a text, a number or an ObjectId
   * answers 500, and so does a promise. With this option, each class must have the option `tenant` in one `@rest`.
   */
  readonly tenant?: (req: FrameworkRequest) => Actor | undefined;
  /**
   * Whether clients can also read a list by a request with the method `QUERY` (RFC 10008), whose body has the
   * parameters as a JSON object. A filter in a body can be longer than a URL. The runtime must know the method, as Node
   * 22 does.
   */
  readonly queryMethod?: boolean;
  /** Limits on the filters in the URL parameter `q`, such as their depth. Requests with a larger filter answer 400. */
  readonly queryLimits?: QueryLimits;
  /** Limits on the size of request bodies, such as the number of keys. Larger bodies answer 400. */
  readonly bodyLimits?: BodyLimits;
  /**
   * Whether the framework removes expired entities at intervals, such as entities whose time in the trash is over. With
   * `false`, the application calls `Framework.tidy()` instead. The default is `true`.
   *
   * The framework removes expired entities about every ten minutes, until `Framework.close()`. The first removal is ten
   * minutes after the start. Only one process at a time removes entities of the same database. On routes with
   * `getConnection`, that happens on the connections that requests have used. A failed removal is logged once and tried
   * again.
   */
  readonly tidy?: boolean;
  /** Limits on live lists, such as the number of their subscribers. */
  readonly live?: LiveLimits;
  /**
   * The path of batches, such as `{ path: "/batch", max: 20 }`. A batch is one request with several requests to routes
   * of the router, which run in order and in one transaction, so that all of them succeed or nothing is written.
   * Without the option, the router has no batches.
   */
  readonly batch?: BatchOptions;
  /**
   * The maximum number of entities that one removal removes in addition, because they refer to a removed entity by a
   * field with `onDelete: "cascade"`. A removal of more entities answers 409 and removes nothing. The default is
   * `1000`.
   */
  readonly maxCascade?: number;
  /**
   * Whether `initialize()` logs the routes, one per line. The line of a read says whether the read makes Mongoose
   * documents, and why.
   */
  readonly log?: boolean;
}

export const OPTIONS: OptionKinds<InitializeOptions> = {
  models: "list",
  onError: "function",
  maxTimeMS: true,
  sendTimeoutMS: true,
  indexes: ["required", "lazy"],
  parameters: ["strict"],
  bodies: ["strict"],
  actor: "function",
  actorNames: "function",
  tenant: "function",
  tidy: "boolean",
  queryLimits: "group",
  queryMethod: "boolean",
  bodyLimits: "group",
  live: "group",
  batch: true,
  maxCascade: true,
  log: "boolean",
};

/** The router that `Framework.initialize()` returns. The application mounts the router by `app.use()`. */
export interface FrameworkRouter extends Router {
  /** Returns the path, the method, the parameters and other facts of each route of this router. */
  readonly describe: () => RouteDescription[];
}

export function initialize(options: InitializeOptions = {}): FrameworkRouter {
  refuseRequest("initialize", options);
  return initializeWith(features, options);
}

/** Mounts the routes of models with a list of features. `initialize()` passes all features, and tests pass a few. */
export function initializeWith(
  known: FeatureList,
  options: InitializeOptions,
): FrameworkRouter {
  const routes = openRoutes(options, known);
  if (options.models === undefined) closeRegistry();
  // Compiling the models here lets a wrong model fail at start-up, and starts the builds of its indexes early.
  for (const route of routes) {
    const { levels: [root], getConnection } = route;
    if (root === undefined || getConnection !== undefined) continue;
    getModel(root.target);
  }
  for (const route of routes) {
    const { operation, options, writes } = actingLevel(route);
    if (operation === "updateAll" && writes?.atomic) checkTransactions(route);
    options.start(route);
    route.features.startClasses(route);
  }
  const describe = () => routes.map(describeRoute);
  if (options.log === true) logLine(routes.map(routeLine).join("\n"));
  const endpoints = known.endpoints(options, routes);
  const router = Object.assign(followSettings(mountRoutes(routes, endpoints)), { describe });
  mounted.set(router, { routes, endpoints });
  housekeeper.add(routes, { isScheduled: options.tidy !== false });
  return router;
}

/**
 * Returns the line about a route that the option `log` writes. The line of a read says whether the read sends bytes or
 * makes Mongoose documents, and why.
 */
function routeLine(route: Route): string {
  const { method, path, operation, model } = describeRoute(route);
  const line = `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
  const level = actingLevel(route);
  const isRead = level.kind.change === undefined && route.getConnection === undefined;
  if (!isRead) return line;
  const compiled: unknown = level.link?.embedded ? undefined : getModel(level.target);
  const { kind, reason } = planLevel(level, compiled as Model<unknown> | undefined);
  return `${line}: ${kind} (${reason})`;
}

interface MountedRouter {
  readonly routes: readonly Route[];
  readonly endpoints: readonly Endpoint[];
}

const mounted = new WeakMap<object, MountedRouter>();

/**
 * Returns the routes of a router of {@linkcode initialize}. Returns `undefined` for any other object, which the caller
 * refuses.
 */
export function mountedRoutes(router: object): readonly Route[] | undefined {
  return mounted.get(router)?.routes;
}

/**
 * Returns the endpoints of a router of {@linkcode initialize} that belong to no model, such as the endpoint for
 * batches.
 */
export function mountedEndpoints(router: object): readonly Endpoint[] {
  return mounted.get(router)?.endpoints ?? [];
}

export function describe(options: InitializeOptions = {}): RouteDescription[] {
  return openRoutes(options).map(describeRoute);
}

/**
 * Returns the endpoints that belong to no model, such as the endpoint for batches, as {@linkcode initialize} adds them
 * to a router. The OpenAPI document describes them for an application that mounts no router.
 */
export function openEndpoints(options: InitializeOptions, routes: readonly Route[]): Endpoint[] {
  return features.endpoints(options, routes);
}

/** Returns the routes that {@linkcode initialize} would mount, so that they can be described without a router. */
export function openRoutes(options: InitializeOptions, known: FeatureList = features): Route[] {
  checkOptions(options);
  return buildRoutes(options.models ?? registeredModels(), settingsOf(options, known));
}

/**
 * Builds the settings that all routes of a router share, with defaults. Throws if a time limit is out of range, because
 * a timer with a longer delay would fire at once.
 */
export function settingsOf(
  options: InitializeOptions,
  known: FeatureList = features,
): RouteSettings {
  const { onError, maxTimeMS = MAX_TIME_MS, sendTimeoutMS = 60_000 } = options;
  const { queryLimits, bodyLimits, indexes, parameters, bodies, actor, queryMethod } = options;
  for (const [name, time] of Object.entries({ maxTimeMS, sendTimeoutMS })) {
    if (Number.isInteger(time) && time > 0 && time <= MAX_TIMER_MS) continue;
    throw new RangeError(
      `Cannot initialize: ${name} is ${time}, not an integer from 1 to ${MAX_TIMER_MS}`,
    );
  }
  return {
    maxTimeMS,
    sendTimeoutMS,
    limits: completeQueryLimits(queryLimits),
    filterPaths: queryLimits?.paths,
    bodyLimits: completeBodyLimits(bodyLimits),
    features: known,
    settings: known.settings(options),
    indexes,
    parameters,
    bodies,
    actor,
    queryMethod,
    reporter: new Reporter(onError),
  };
}

function checkOptions(options: InitializeOptions): void {
  const unknown = unknownOption(options, OPTIONS);
  if (unknown !== undefined) {
    throw new TypeError(`Cannot initialize: there is no option ${unknown}`);
  }
  const wrong = wrongOption(options, OPTIONS);
  if (wrong !== undefined) throw new TypeError(`Cannot initialize: ${wrong}`);
  if (options.queryMethod === true) checkQueryMethod();
}
