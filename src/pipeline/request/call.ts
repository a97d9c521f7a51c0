import { IncomingMessage } from "node:http";
import type { Connection, Model } from "mongoose";
import type { KeyRecord } from "../../database/key_record.ts";
import { requestConnection } from "../../database/request_connection.ts";
import { MARGIN_MS, TimeBudget } from "../../database/time_budget.ts";
import type { FrameworkRequest, FrameworkState } from "../../declare/hooks/framework_request.ts";
import { takesQ } from "../../declare/operations/operation.ts";
import { HookFailure } from "../../declare/hooks/run_hook.ts";
import { additionsTo, type Filter } from "../../filter/filters.ts";
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

interface OpeningState {
  key?: KeyRecord;
  source?: Source;
  /** The count of a hook that asks before the level is open. */
  counting?: Promise<number>;
  /** The version of the document around the part below, and its identifier. */
  version?: Version;
  holder?: string | undefined;
}

export interface LevelCall extends RequestContext {
  /** Replaced once, after the `preFetch` hooks, by what the rights of the reader leave of it. */
  level: Level;
  readonly above: LevelCall | undefined;
  readonly state: FrameworkState;
  asked: Asked;
  readonly opened: OpeningState;
  /** Gives the model on the request's connection. What `getConnection` throws is a {@linkcode HookFailure}. */
  readonly model: () => Promise<Model<unknown>>;
}

/** A level whose source is open: every step of an operation works on one. */
export interface OpenLevel extends LevelCall {
  readonly source: Source;
  readonly finder?: TargetFinder | undefined;
}

export interface Call extends RequestContext {
  readonly levels: readonly LevelCall[];
  readonly acting: LevelCall;
  /** The hash of the body as the client has sent it, where it may have come with a key. */
  readonly bodyHash?: string | undefined;
  /** The error in the parameters: thrown after the `preFetch` hooks, which come first. */
  readonly badQuery?: unknown;
}

export interface Asked extends ReadQuery {
  /** Takes what the client selects by out of a filter: a cursor names an entity that need not be selected any more. */
  readonly added?: (filter: Filter) => Filter;
  readonly match?: IfMatch | undefined;
}

/** Opens a call. Before the first hook nothing but the request is looked at. */
export function openCall(
  route: Route,
  { req, count }: {
    readonly req: FrameworkRequest;
    readonly count: (at: LevelCall) => Promise<number>;
  },
): Call {
  const timeBudget = new TimeBudget(route.maxTimeMS + MARGIN_MS);
  const open = requestConnection(req, { getConnection: route.getConnection, timeBudget });
  let opened: Connection | undefined;
  const connect = async () => opened = await open();
  const isAway = () => opened !== undefined && !isOpen(opened);
  const { asked, q, badQuery } = readEarly(route, req);
  const levels: LevelCall[] = [];
  for (const level of route.levels) {
    const compile = level.link?.embedded ? embeddedModel : getModel;
    const model = async () => compile(level.target, await connect()) as unknown as Model<unknown>;
    // Hooks see what `getConnection` threw, as it was thrown.
    const shown = () =>
      model().catch((error) => {
        throw error instanceof HookFailure ? error.thrown : error;
      });
    const at: LevelCall = {
      ...{ route, req, timeBudget, isAway, level, model, above: levels.at(-1), opened: {} },
      state: {
        ...{ filter: {}, options: {}, projection: {}, operation: level.operation },
        model: shown as unknown as FrameworkState["model"],
        count: () => count(at),
      },
      asked: level === actingLevel(route) ? asked : {},
    };
    levels.push(at);
  }
  const acting = levels.at(-1) as LevelCall;
  acting.state.filter = q;
  // Hooks may change the body.
  const bodyHash = acting.level.writes?.idempotency && hashBody(req);
  return { route, req, timeBudget, levels, acting, isAway, badQuery, bodyHash };
}

/** Reads what a client asks, as far as it does not depend on what he may see: hooks get the conditions of `q`. */
function readEarly(route: Route, req: FrameworkRequest): ParsedQuery {
  const level = actingLevel(route);
  if (route.rights === undefined) return readQuery({ route, level, req });
  const { reads, ...others } = level;
  const early = readQuery({ route, level: others, req });
  if (reads?.page === undefined) return early;
  return { ...early, asked: { added: additionsTo(early.q) }, q: { ...early.q } };
}

interface ParsedQuery {
  readonly asked: Asked;
  readonly q: Filter;
  readonly badQuery?: unknown;
}

/** Reads what a client asks of the level that acts, or what is wrong with it. */
export function readQuery(
  { route, level, req }: Pick<LevelCall, "route" | "level" | "req">,
): ParsedQuery {
  const { shape, kind, reads, filterPaths } = level;
  const { operation } = route;
  const given = operation.change && readIfMatch(req.headers["if-match"]);
  // A list is always there.
  const match = given === "any" && !operation.item ? undefined : given;
  if (!takesQ(kind) || level.ignoresQ) return { asked: { match }, q: {} };
  try {
    const q = parseQ(req.url, { shape, limits: route.limits, paths: filterPaths });
    if (reads === undefined) return { asked: { match }, q };
    const parameters = route.levels.flatMap((level) => level.parameters);
    const asked = parseRead(reads, {
      url: req.url,
      prefersCount: prefersCount(req),
      parameters,
      accept: req.headers.accept,
    });
    return { asked: { ...asked, ...asked.page && { added: additionsTo(q) } }, q: { ...q } };
  } catch (badQuery) {
    return { asked: {}, q: {}, badQuery };
  }
}

export function enterLevel({ req, state }: LevelCall): void {
  req.framework = state;
}

export function separatorOf({ asked: { format } }: LevelCall): Separator {
  return format === undefined ? "," : "\n";
}

/** The name of a level's entity in the path; empty where the parent holds only one. */
export function idParam({ req, level: { parameter } }: LevelCall): string {
  return parameter === undefined ? "" : String(req.params[parameter]);
}

/**
 * A request with a `framework` of its own, for what runs while hooks of the same request may wait. All else is read from the
 * given request and set on it: what a scope notes there is seen by others.
 */
export function foreignRequest(
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
