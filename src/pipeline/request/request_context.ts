import { IncomingMessage } from "node:http";
import type { Connection, Model } from "mongoose";
import { requestConnection } from "../../database/request_connection.ts";
import { MARGIN_MS, TimeBudget } from "../../database/time_budget.ts";
import type { FrameworkRequest, FrameworkState } from "../../declare/hooks/framework_request.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { type Filter, hookConditionsIn } from "../../filter/filters.ts";
import { parseQ } from "../../filter/q/compile_filter.ts";
import type { Separator } from "../../json/bytes/json_writer.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { embeddedModel, getModel } from "../../schema/get_model.ts";
import { isOpen } from "../../schema/mongoose/connections.ts";
import type { CreationClaim, Source } from "../../sources/source.ts";
import type { ActiveFeature, AnyFeature } from "../feature.ts";
import { joinPieces, NO_PIECES, type Pieces } from "../pieces.ts";
import { type IfMatch, readIfMatch } from "./versions.ts";
import { actingLevel, type Level, type Route } from "./route.ts";

interface RequestContext {
  readonly route: Route;
  readonly req: FrameworkRequest;
  readonly timeBudget: TimeBudget;
  readonly isAway: () => boolean;
}

interface LevelCache {
  /** The claim on the entities that the request creates. A feature that wraps the operation sets the claim. */
  claim?: CreationClaim;
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
  /** The version in `If-Match`. Only the last level of a write has one. */
  readonly match?: IfMatch | undefined;
  /**
   * Returns the conditions in a filter that hooks have added, without the conditions of the client. Missing if no
   * feature reads an entity that the conditions of the client may exclude.
   */
  readonly hookConditions?: ((filter: Filter) => Filter) | undefined;
  /** The features that the request uses. The list is empty until the `preFetch` hooks have passed. */
  active: readonly ActiveFeature[];
  /** The exclusive feature among the active features, which answers in the place of the operation. */
  lead?: ActiveFeature | undefined;
  /** The pieces of the statement and of the answer, from all active features. */
  pieces: Pieces;
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
}

export interface Call extends RequestContext {
  readonly levels: readonly LevelContext[];
  readonly context: LevelContext;
  /**
   * The error in the filter of the client. The `preFetch` hooks run before the error is thrown, so that a refusal by a
   * hook (403) comes first.
   */
  readonly badQuery?: unknown;
  /** The values that features have read before the hooks could change the request. */
  readonly captured: ReadonlyMap<AnyFeature, unknown> | undefined;
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
  const acting = actingLevel(route);
  const { q, badQuery } = readFilter({ route, level: acting, req });
  const match = readMatch(route, req);
  const captured = acting.options.declared.capture(req);
  const needsConditions = acting.options.declared.readsBeyondFilter;
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
      ...level === acting &&
        { match, ...needsConditions && { hookConditions: hookConditionsIn(q) } },
      active: [],
      pieces: NO_PIECES,
    };
    levels.push(context);
  }
  const context = levels.at(-1) as LevelContext;
  context.state.filter = needsConditions ? { ...q } : q;
  return { route, req, timeBudget, levels, context, isAway, badQuery, captured };
}

/** Reads the version in `If-Match` of a write. */
function readMatch({ operation }: Route, { headers }: FrameworkRequest): IfMatch | undefined {
  const given = operation.change && readIfMatch(headers["if-match"]);
  // A list always exists, so `If-Match: *` is true for every list and is ignored.
  return given === "any" && !operation.item ? undefined : given;
}

/**
 * Reads the filter of the client for the last level. Returns the error of a wrong filter as `badQuery` and does not
 * throw it, so that the `preFetch` hooks run first.
 */
export function readFilter(
  { route, level, req }: Pick<LevelContext, "route" | "level" | "req">,
): { readonly q: Filter; readonly badQuery?: unknown } {
  const { shape, kind, filterPaths } = level;
  if (!takesQ(kind) || level.ignoresQ) return { q: {} };
  try {
    return { q: parseQ(req.url, { shape, limits: route.limits, paths: filterPaths }) };
  } catch (badQuery) {
    return { q: {}, badQuery };
  }
}

/**
 * Reads the parameters of the features of the last level, by the rules of its reader. The caller has run the `preFetch`
 * hooks, so a client that they refuse gets no error about its parameters.
 */
export function parseFeatures(
  context: LevelContext,
  captured?: ReadonlyMap<AnyFeature, unknown>,
): void {
  const { level: { options }, route, req } = context;
  const ofHooks = route.levels.flatMap((level) => level.parameters);
  const { bodyLimits } = route;
  const { active, lead } = options.parse({ req, ofHooks, captured, bodyLimits });
  if (active.length === 0) return;
  context.active = active;
  context.lead = lead;
  context.pieces = joinPieces(
    active.map(({ feature, params }) => feature.select?.(params) ?? NO_PIECES),
  );
}

export function enterLevel({ req, state }: LevelContext): void {
  req.framework = state;
}

export function separatorOf({ pieces: { frame } }: LevelContext): Separator {
  return frame?.separator ?? ",";
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
