import { IncomingMessage } from "node:http";
import type { Connection, Model } from "mongoose";
import type { KeyRecord } from "../../database/key_record.ts";
import { requestConnection } from "../../database/request_connection.ts";
import { MARGIN_MS, TimeBudget } from "../../database/time_budget.ts";
import type { FrameworkRequest, FrameworkState } from "../../declare/hooks/framework_request.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { type Filter, hookConditionsIn } from "../../filter/filters.ts";
import { parseRead } from "../../filter/parameters/parse_read.ts";
import type { ReadQuery } from "../../filter/parameters/read_rules.ts";
import { parseQ } from "../../filter/q/compile_filter.ts";
import type { Separator } from "../../json/bytes/json_writer.ts";
import type { TargetFinder } from "../../json/populate.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { embeddedModel, getModel } from "../../schema/get_model.ts";
import { isOpen } from "../../schema/mongoose/connections.ts";
import type { Source } from "../../sources/source.ts";
import { hashBody } from "./idempotency_key.ts";
import { prefersCount } from "./preferences.ts";
import { type IfMatch, readIfMatch } from "./versions.ts";
import { actingLevel, type Level, type Route } from "./route.ts";

interface RequestContext {
  readonly route: Route;
  readonly req: FrameworkRequest;
  readonly timeBudget: TimeBudget;
  readonly isAway: () => boolean;
}

interface LevelCache {
  key?: KeyRecord;
  source?: Source;
  /** The running count for a hook that counts before the level is open. Further calls of `count()` share this count. */
  counting?: Promise<number>;
  /**
   * The version and the identifier of the document that embeds the entities of the level below. `If-Match` of an
   * embedded entity is compared with both.
   */
  version?: Version;
  parentId?: string | undefined;
}

export interface LevelContext extends RequestContext {
  /**
   * The level of the route with the fields of all readers. After the `preFetch` hooks, the level with the fields that
   * the reader may see replaces this level once.
   */
  level: Level;
  readonly above: LevelContext | undefined;
  readonly state: FrameworkState;
  params: RequestParams;
  readonly cache: LevelCache;
  /**
   * Returns the model on the connection of the request. Throws a {@linkcode HookFailure} if `getConnection` throws an
   * error.
   */
  readonly model: () => Promise<Model<unknown>>;
}

/** The context of a level whose source is open. Every step of an operation works on such a context. */
export interface OpenLevelContext extends LevelContext {
  readonly source: Source;
  readonly finder?: TargetFinder | undefined;
}

export interface Call extends RequestContext {
  readonly levels: readonly LevelContext[];
  readonly context: LevelContext;
  /**
   * The hash of the body as the client has sent it. The hash shows whether a repeated request has another body than the
   * first request. Only requests with an idempotency key have a hash.
   */
  readonly bodyHash?: string | undefined;
  /**
   * The error in the query parameters. The `preFetch` hooks run before the error is thrown, so that a refusal by a hook
   * (403) comes first.
   */
  readonly badQuery?: unknown;
}

export interface RequestParams extends ReadQuery {
  /**
   * Returns the conditions in a filter that hooks have added, without the conditions of the client. A cursor may name
   * an entity that the conditions of the client no longer select, so this entity is read by the conditions of hooks and
   * scopes alone.
   */
  readonly hookConditions?: (filter: Filter) => Filter;
  readonly match?: IfMatch | undefined;
}

/**
 * Opens the call of a request, on which all steps of the pipeline work. Does not read the database, because the first
 * hook may refuse the request.
 */
export function openCall(
  route: Route,
  { req, count }: {
    readonly req: FrameworkRequest;
    readonly count: (context: LevelContext) => Promise<number>;
  },
): Call {
  const timeBudget = new TimeBudget(route.maxTimeMS + MARGIN_MS);
  const open = requestConnection(req, { getConnection: route.getConnection, timeBudget });
  let opened: Connection | undefined;
  const connect = async () => opened = await open();
  const isAway = () => opened !== undefined && !isOpen(opened);
  const { params, q, badQuery } = readEarly(route, req);
  const levels: LevelContext[] = [];
  for (const level of route.levels) {
    const compile = level.link?.embedded ? embeddedModel : getModel;
    const model = async () => compile(level.target, await connect()) as unknown as Model<unknown>;
    // Hooks get the error that `getConnection` threw, without the `HookFailure` around it.
    const shown = () =>
      model().catch((error) => {
        throw error instanceof HookFailure ? error.thrown : error;
      });
    const context: LevelContext = {
      route,
      req,
      timeBudget,
      isAway,
      level,
      model,
      above: levels.at(-1),
      cache: {},
      state: {
        filter: {},
        options: {},
        projection: {},
        operation: level.operation,
        model: shown as unknown as FrameworkState["model"],
        count: () => count(context),
      },
      params: level === actingLevel(route) ? params : {},
    };
    levels.push(context);
  }
  const context = levels.at(-1) as LevelContext;
  context.state.filter = q;
  // Hooks may change the body, so its hash is computed before they run.
  const bodyHash = context.level.writes?.idempotency && hashBody(req);
  return { route, req, timeBudget, levels, context, isAway, badQuery, bodyHash };
}

/**
 * Reads the query parameters before the `preFetch` hooks. If readers have different rights, only `q` is read, because
 * hooks get the conditions of `q`. `narrowToReader()` reads the other parameters when the rights are known.
 */
function readEarly(route: Route, req: FrameworkRequest): ParsedQuery {
  const level = actingLevel(route);
  if (route.rights === undefined) return readQuery({ route, level, req });
  const { reads, ...others } = level;
  const early = readQuery({ route, level: others, req });
  if (reads?.page === undefined) return early;
  return { ...early, params: { hookConditions: hookConditionsIn(early.q) }, q: { ...early.q } };
}

interface ParsedQuery {
  readonly params: RequestParams;
  readonly q: Filter;
  readonly badQuery?: unknown;
}

/**
 * Reads the query parameters for the last level. Returns the error of a wrong parameter as `badQuery` and does not
 * throw it, so that the `preFetch` hooks run first.
 */
export function readQuery(
  { route, level, req }: Pick<LevelContext, "route" | "level" | "req">,
): ParsedQuery {
  const { shape, kind, reads, filterPaths } = level;
  const { operation } = route;
  const given = operation.change && readIfMatch(req.headers["if-match"]);
  // A list always exists, so `If-Match: *` is true for every list and is ignored.
  const match = given === "any" && !operation.item ? undefined : given;
  if (!takesQ(kind) || level.ignoresQ) return { params: { match }, q: {} };
  try {
    const q = parseQ(req.url, { shape, limits: route.limits, paths: filterPaths });
    if (reads === undefined) return { params: { match }, q };
    const parameters = route.levels.flatMap((level) => level.parameters);
    const params = parseRead(reads, {
      url: req.url,
      prefersCount: prefersCount(req),
      parameters,
      accept: req.headers.accept,
    });
    return {
      params: { ...params, ...params.page && { hookConditions: hookConditionsIn(q) } },
      q: { ...q },
    };
  } catch (badQuery) {
    return { params: {}, q: {}, badQuery };
  }
}

export function enterLevel({ req, state }: LevelContext): void {
  req.framework = state;
}

export function separatorOf({ params: { format } }: LevelContext): Separator {
  return format === undefined ? "," : "\n";
}

/**
 * Returns the value of the path parameter that names the entity of a level. Returns an empty text if the parent holds
 * only one entity, which the path does not name.
 */
export function idParam({ req, level: { parameter } }: LevelContext): string {
  return parameter === undefined ? "" : String(req.params[parameter]);
}

/**
 * Returns a view of a request with another `framework`, for work that runs while hooks of the same request may be
 * running. All other properties are read from the given request and set on it, so a property that a scope sets is
 * visible in the whole request.
 */
export function requestView(
  req: FrameworkRequest,
  { framework, params }: Partial<Pick<FrameworkRequest, "framework" | "params">> = {},
): FrameworkRequest {
  let own: unknown = framework ?? req.framework;
  return new Proxy(req, {
    // Getters run on the request itself, because a proxy cannot read the private members of its class.
    get(target, name) {
      if (name === "framework") return own;
      if (name === "params" && params !== undefined) return params;
      const value: unknown = Reflect.get(target, name, target);
      // Iterating over a stream compares the stream with the `this` of its listeners. A proxy as `this` would cause an
      // error that nothing catches.
      const isOfStream = name in IncomingMessage.prototype && typeof value === "function";
      return isOfStream ? value.bind(target) : value;
    },
    set(target, name, value) {
      if (name !== "framework") return Reflect.set(target, name, value, target);
      own = value;
      return true;
    },
  });
}
