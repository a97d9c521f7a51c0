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
  /** The count of a hook that asks before the level is open. */
  counting?: Promise<number>;
  /** The version of the document around the part below, and its identifier. */
  version?: Version;
  parentId?: string | undefined;
}

export interface LevelContext extends RequestContext {
  /** Replaced once, after the `preFetch` hooks, by what the rights of the reader leave of it. */
  level: Level;
  readonly above: LevelContext | undefined;
  readonly state: FrameworkState;
  params: RequestParams;
  readonly cache: LevelCache;
  /** Gives the model on the request's connection. What `getConnection` throws is a {@linkcode HookFailure}. */
  readonly model: () => Promise<Model<unknown>>;
}

/** A level whose source is open: every step of an operation works on one. */
export interface OpenLevelContext extends LevelContext {
  readonly source: Source;
  readonly finder?: TargetFinder | undefined;
}

export interface Call extends RequestContext {
  readonly levels: readonly LevelContext[];
  readonly context: LevelContext;
  /** The hash of the body as the client has sent it, where it may have come with a key. */
  readonly bodyHash?: string | undefined;
  /** The error in the parameters: thrown after the `preFetch` hooks, which come first. */
  readonly badQuery?: unknown;
}

export interface RequestParams extends ReadQuery {
  /** Takes what the client selects by out of a filter: a cursor names an entity that need not be selected any more. */
  readonly hookConditions?: (filter: Filter) => Filter;
  readonly match?: IfMatch | undefined;
}

/** Opens a call. Before the first hook nothing but the request is looked at. */
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
    // Hooks see what `getConnection` threw, as it was thrown.
    const shown = () =>
      model().catch((error) => {
        throw error instanceof HookFailure ? error.thrown : error;
      });
    const context: LevelContext = {
      ...{ route, req, timeBudget, isAway, level, model, above: levels.at(-1), cache: {} },
      state: {
        ...{ filter: {}, options: {}, projection: {}, operation: level.operation },
        model: shown as unknown as FrameworkState["model"],
        count: () => count(context),
      },
      params: level === actingLevel(route) ? params : {},
    };
    levels.push(context);
  }
  const context = levels.at(-1) as LevelContext;
  context.state.filter = q;
  // Hooks may change the body.
  const bodyHash = context.level.writes?.idempotency && hashBody(req);
  return { route, req, timeBudget, levels, context, isAway, badQuery, bodyHash };
}

/** Reads what a client asks, as far as it does not depend on what he may see: hooks get the conditions of `q`. */
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

/** Reads what a client asks of the level that acts, or what is wrong with it. */
export function readQuery(
  { route, level, req }: Pick<LevelContext, "route" | "level" | "req">,
): ParsedQuery {
  const { shape, kind, reads, filterPaths } = level;
  const { operation } = route;
  const given = operation.change && readIfMatch(req.headers["if-match"]);
  // A list is always there.
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

/** The name of a level's entity in the path; empty where the parent holds only one. */
export function idParam({ req, level: { parameter } }: LevelContext): string {
  return parameter === undefined ? "" : String(req.params[parameter]);
}

/**
 * A request with a `framework` of its own, for what runs while hooks of the same request may wait. All else is read from the
 * given request and set on it: what a scope notes there is seen by others.
 */
export function requestView(
  req: FrameworkRequest,
  { framework, params }: Partial<Pick<FrameworkRequest, "framework" | "params">> = {},
): FrameworkRequest {
  let own: unknown = framework ?? req.framework;
  return new Proxy(req, {
    // Getters get the request itself: members that are private to its class cannot be read from a proxy.
    get(target, name) {
      if (name === "framework") return own;
      if (name === "params" && params !== undefined) return params;
      const value: unknown = Reflect.get(target, name, target);
      // Iterating over a stream compares it with the `this` of its listeners: an error that nobody catches otherwise.
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
