import { IncomingMessage } from "node:http";
import type { Connection, Model } from "mongoose";
import { requestConnection } from "../../store/request_connection.ts";
import { joinShared } from "../../store/shared_transaction.ts";
import { MARGIN_MS, TimeBudget } from "../../store/time_budget.ts";
import type { FrameworkRequest, FrameworkState } from "../../declare/hooks/framework_request.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { type Filter, hookConditionsIn } from "../../filter/filters.ts";
import type { Selection } from "../../filter/selection.ts";
import { parseQ } from "../../filter/q/compile_filter.ts";
import type { Separator } from "../../json/bytes/json_writer.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { embeddedModel, untypedModel } from "../../schema/get_model.ts";
import { isOpen } from "../../schema/mongoose/connections.ts";
import type { CreationClaim, Source } from "../../sources/source.ts";
import type { ActiveFeature, AnyFeature } from "../feature.ts";
import { mergePieces, NO_PIECES, type Pieces } from "../pieces.ts";
import { type IfMatch, readIfMatch } from "./versions.ts";
import { actingLevel, type Level, type Route } from "./route.ts";

interface RequestContext {
  readonly route: Route;
  readonly req: FrameworkRequest;
  /** The batch of the request, or else the request itself. */
  readonly origin: object;
  /** The HTTP request of the client, which may be a batch or a tool call of MCP. */
  readonly client: object;
  readonly timeBudget: TimeBudget;
  readonly isAway: () => boolean;
}

export interface LevelContext extends RequestContext {
  /** Until the `preFetch` hooks have passed, the level has the fields of all readers. */
  readonly level: Level;
  readonly above: LevelContext | undefined;
  readonly state: FrameworkState;
  /** The versions in `If-Match`. Missing for reads and for parents in the path. */
  readonly match?: IfMatch | undefined;
  /** Removes the conditions of `q` from a filter, but not the ones of hooks. Missing if the request reads no list. */
  readonly hookConditions?: ((filter: Filter) => Filter) | undefined;
  readonly active: readonly ActiveFeature[];
  readonly exclusive?: ActiveFeature | undefined;
  readonly pieces: Pieces;
  /** Throws a {@linkcode HookFailure} if `getConnection` throws. */
  readonly model: () => Promise<Model<unknown>>;
}

export interface Embedding {
  readonly version: Version;
  readonly parentId: string | undefined;
}

export interface SelectedLevel extends Selection {
  /** The filter with identifiers instead of conditions through references. */
  readonly followed?: Filter;
}

export interface OpenLevelContext extends LevelContext {
  readonly above: OpenLevelContext | undefined;
  readonly source: Source;
  readonly selection: SelectedLevel;
  readonly embedding: Embedding | undefined;
  /** An idempotency key has reserved these identifiers, so that a repeated request creates nothing twice. */
  readonly claim?: CreationClaim;
}

export interface Call extends RequestContext {
  readonly levels: readonly LevelContext[];
  readonly context: LevelContext;
  /**
   * An error in `q` or a `QUERY` body, thrown after the `preFetch` hooks, so that a refused client learns nothing from
   * it.
   */
  readonly badQuery?: unknown;
  readonly captured: ReadonlyMap<AnyFeature, unknown> | undefined;
}

interface CallOptions {
  readonly req: FrameworkRequest;
  readonly count: (context: LevelContext) => Promise<number>;
  /** The error in the body of a `QUERY`. */
  readonly refused?: unknown;
  readonly origin?: object | undefined;
  readonly client?: object | undefined;
  /** The number by which rate limits count the request, by default 1. */
  readonly weight?: number | undefined;
  readonly timeBudget?: TimeBudget | undefined;
  readonly sharedRoutes?: readonly Route[] | undefined;
}

export function makeTimeBudget({ maxTimeMS }: Pick<Route, "maxTimeMS">): TimeBudget {
  return new TimeBudget(maxTimeMS + MARGIN_MS);
}

/** Reads nothing from the database, because the first hook may refuse the request. */
export function makeCall(
  route: Route,
  options: CallOptions,
): Call {
  const { req, count, refused, origin = req, weight = 1, sharedRoutes = [route] } = options;
  const { timeBudget = makeTimeBudget(route), client = req } = options;
  const { connect, isAway } = connectorOf(route, { req, timeBudget, sharedRoutes });
  const acting = actingLevel(route);
  const { q, badQuery } = readFilter({ route, level: acting, req });
  const match = readMatch(route, req);
  const captured = acting.options.declared.capture(req);
  const isList = acting.traits.many && acting.traits.change === undefined;
  const levels: LevelContext[] = [];
  for (const level of route.levels) {
    const compile = level.link?.embedded ? embeddedModel : untypedModel;
    const model = async () => compile(level.target, await connect());
    // Hooks that open the model get the error of `getConnection`, without the `HookFailure`.
    const shown = () =>
      model().catch((error) => {
        throw error instanceof HookFailure ? error.thrown : error;
      });
    const context: LevelContext = {
      route,
      req,
      origin,
      client,
      timeBudget,
      isAway,
      level,
      model,
      above: levels.at(-1),
      state: {
        filter: {},
        options: {},
        projection: {},
        operation: level.operation,
        weight,
        model: shown as unknown as FrameworkState["model"],
        count: shareCount(() => count(context)),
      },
      ...level === acting &&
        { match, ...isList && { hookConditions: hookConditionsIn(q) } },
      active: [],
      pieces: NO_PIECES,
    };
    levels.push(context);
  }
  const context = levels.at(-1) as LevelContext;
  context.state.filter = isList ? { ...q } : q;
  const shared = { route, req, origin, client, timeBudget, isAway };
  return { ...shared, levels, context, badQuery: refused ?? badQuery, captured };
}

function shareCount(count: () => Promise<number>): () => Promise<number> {
  let counting: Promise<number> | undefined;
  return () => counting ??= count().finally(() => counting = undefined);
}

function connectorOf(
  route: Route,
  { req, timeBudget, sharedRoutes }: Pick<Call, "req" | "timeBudget"> & {
    readonly sharedRoutes: readonly Route[];
  },
): { readonly connect: () => Promise<Connection>; readonly isAway: () => boolean } {
  const open = requestConnection(req, { getConnection: route.getConnection, timeBudget });
  let opened: Connection | undefined;
  const connect = async () => {
    opened = await open();
    const joining = joinTransaction(route, { connection: opened, sharedRoutes });
    if (joining !== undefined) await joining;
    return opened;
  };
  return { connect, isAway: () => opened !== undefined && !isOpen(opened) };
}

/**
 * MongoDB builds no indexes in the transaction of a batch. So builds begin before, for all its routes with the same
 * `getConnection`, which should share the connection.
 */
function joinTransaction(
  { levels: [root], getConnection }: Route,
  { connection, sharedRoutes }: {
    readonly connection: Connection;
    readonly sharedRoutes: readonly Route[];
  },
): Promise<void> | undefined {
  return root && joinShared(() => {
    for (const each of sharedRoutes) {
      if (each.getConnection === getConnection) each.features.beginBuilds(each, connection);
    }
    return untypedModel(root.target, connection);
  });
}

function readMatch({ operation }: Route, { headers }: FrameworkRequest): IfMatch | undefined {
  const given = operation.change && readIfMatch(headers["if-match"]);
  // A list always exists, so `If-Match: *` is always true.
  return given === "any" && !operation.item ? undefined : given;
}

export function readFilter(
  { route, level, req }: Pick<LevelContext, "route" | "level" | "req">,
): { readonly q: Filter; readonly badQuery?: unknown } {
  const { shape, traits, filterPaths } = level;
  if (!takesQ(traits) || level.ignoresQ) return { q: {} };
  try {
    return { q: parseQ(req.url, { shape, limits: route.limits, paths: filterPaths }) };
  } catch (badQuery) {
    return { q: {}, badQuery };
  }
}

export function parseFeatures(
  context: LevelContext,
  captured?: ReadonlyMap<AnyFeature, unknown>,
): LevelContext {
  const { level: { options }, route, req } = context;
  const ofHooks = route.levels.flatMap((level) => level.parameters);
  const { bodyLimits } = route;
  const { active, exclusive } = options.parse({ req, ofHooks, captured, bodyLimits });
  if (active.length === 0) return context;
  const pieces = active.map(({ feature, params }) => feature.select?.(params) ?? NO_PIECES);
  return { ...context, active, exclusive, pieces: mergePieces(pieces) };
}

export function enterLevel({ req, state }: LevelContext): void {
  req.framework = state;
}

export function separatorOf({ pieces: { frame } }: LevelContext): Separator {
  return frame?.separator ?? ",";
}

export function idParam({ req, level: { parameter } }: LevelContext): string {
  return parameter === undefined ? "" : String(req.params[parameter]);
}

/**
 * Hooks that run at the same time each have a `req.framework`. Other properties are set on the request itself, so that
 * all hooks see them.
 */
export function requestView(
  req: FrameworkRequest,
  { framework, params }: Partial<Pick<FrameworkRequest, "framework" | "params">> = {},
): FrameworkRequest {
  let own: unknown = framework ?? req.framework;
  return new Proxy(req, {
    // A getter cannot read private members of its class from a proxy, so the receiver is `target`.
    get(target, name) {
      if (name === "framework") return own;
      if (name === "params" && params !== undefined) return params;
      const value: unknown = Reflect.get(target, name, target);
      // If `this` of a listener is not the stream, Node throws an error that no code can catch.
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
