import type { Connection, Model } from "mongoose";
import { HookFailure } from "../../declare/hooks/hook_failure.ts";
import type { FrameworkRequest, FrameworkState } from "../../declare/hooks/framework_request.ts";
import { parseQ } from "../../filter/q/parse_q.ts";
import { embeddedModel } from "../../schema/embedded_model.ts";
import { getModel } from "../../schema/get_model.ts";
import { OPEN, openConnection } from "../../database/open_connection.ts";
import { MARGIN_MS, Patience } from "../../database/patience.ts";
import type { Level, Route } from "./route.ts";
import { actingLevel } from "./route.ts";

/** A level of a route while a request passes it. */
export interface LevelCall {
  /** The level. */
  readonly level: Level;
  /** What `req.framework` is while its hooks run. */
  readonly state: FrameworkState;
  /** Gives Mongoose's model on the request's connection. A failure of `getConnection` is known as the host's. */
  readonly model: () => Promise<Model<unknown>>;
}

/** One request on its way through a route. */
export interface Call {
  /** The route. */
  readonly route: Route;
  /** The request. */
  readonly req: FrameworkRequest;
  /** The levels, outermost first. */
  readonly levels: readonly LevelCall[];
  /** The level that acts. */
  readonly acting: LevelCall;
  /** Bounds every wait for the database. */
  readonly patience: Patience;
  /** Tells whether the connection that the request uses has been closed meanwhile. */
  readonly isAway: () => boolean;
  /** What is wrong with `q`; said after the `preFetch` hooks, who may have something graver to say. */
  readonly badQuery?: unknown;
}

/** Opens a call: nothing but the request has been looked at when the first hook runs. */
export function openCall(route: Route, req: FrameworkRequest): Call {
  const patience = new Patience(route.maxTimeMS + MARGIN_MS);
  const open = openConnection(req, route.getConnection, patience);
  let opened: Connection | undefined;
  const connection = async () => opened = await open();
  const levels = route.levels.map((level) => openLevel(level, connection));
  const acting = levels[levels.length - 1] as LevelCall;
  const isAway = () => opened !== undefined && opened.readyState !== OPEN;
  const call = { route, req, levels, acting, patience, isAway };
  if (acting.level.operation === "create") return call;
  try {
    acting.state.filter = parseQ(req.url, actingLevel(route).shape, route.limits);
    return call;
  } catch (badQuery) {
    return { ...call, badQuery };
  }
}

function openLevel(level: Level, connection: ReturnType<typeof openConnection>): LevelCall {
  const compile = level.part?.embedded ? embeddedModel : getModel;
  const model = async () => compile(level.target, await connection()) as unknown as Model<unknown>;
  const state = {
    filter: {},
    options: {},
    projection: {},
    operation: level.operation,
    model: (() => model().catch(asThrown)) as unknown as FrameworkState["model"],
  };
  return { level, state, model };
}

/** Shows hooks what `getConnection` threw, as it was thrown. */
function asThrown(error: unknown): never {
  throw error instanceof HookFailure ? error.thrown : error;
}

/** Makes a level the running one: `req.framework` is its own. */
export function enterLevel({ req }: Call, { state }: LevelCall): void {
  req.framework = state;
}
