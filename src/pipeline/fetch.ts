import type { Connection } from "mongoose";
import { OPEN } from "../database/open_connection.ts";
import { hookFailure } from "../declare/hooks/hook_failure.ts";
import { notFound } from "../errors/refusals.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { connectionOf } from "../schema/mongoose/connections/connection_of.ts";
import { concealSecrets } from "../json/conceal_secrets.ts";
import { rememberShape } from "../schema/fields/shape_of_instance.ts";
import { projected } from "../filter/projection/projected.ts";
import { instanceMaker } from "../sources/direct/reads/instance_maker.ts";
import { projectionOf } from "../filter/projection/projection_of.ts";
import { readProjection } from "../filter/projection/read_projection.ts";
import type { Source } from "../sources/source.ts";
import type { Call, LevelCall } from "./request/call.ts";
import { close, givenEntities } from "./lists/given_entities.ts";
import { passHook, tellForgotten } from "./guard.ts";

/**
 * Reads the entities of a level, several at a time: by its `fetch` hook, or from its source. No hook but `fetch` has seen
 * them.
 */
export async function* fetchEntities(
  call: Call,
  levelCall: LevelCall,
  source: Source,
): AsyncGenerator<readonly object[]> {
  const { level } = levelCall;
  const { fetch } = level.hooks;
  const { operation } = call.route;
  if (fetch !== undefined) {
    const given = await fetchInTime(call, () => fetch(call.req));
    if (given === undefined && operation.many && level === call.acting.level) {
      tellForgotten(call, level, "fetch");
    }
    for await (const entities of givenEntities(given, call.patience)) {
      yield entities.map((each) => isDocument(each) ? each : rememberShape(each, level.shape));
    }
    return;
  }
  const present = presenter(levelCall);
  const acts = level === call.acting.level;
  if (acts && operation.fetch === "list") {
    for await (const entities of source.list(operation.change !== undefined)) {
      yield present === undefined ? entities : entities.map(present);
    }
    return;
  }
  const id = entityName(call, levelCall);
  const found = acts && operation.fetch === "fresh"
    ? await source.fresh()
    : acts && operation.change !== undefined
    ? await source.forChange(id)
    : await source.byId(id);
  if (found !== null) yield [present?.(found) ?? found];
}

/** Runs a `fetch` hook; a cursor that it gives too late is closed. */
async function fetchInTime({ patience }: Call, fetch: () => unknown): Promise<unknown> {
  const given = runFetch(fetch);
  try {
    return await patience.wait(given);
  } catch (error) {
    given.then(close, () => {});
    throw error;
  }
}

/** Runs a `fetch` hook, and the query that it may give. */
async function runFetch(fetch: () => unknown): Promise<unknown> {
  let connection: Connection | undefined;
  try {
    const given = fetch();
    connection = connectionOf(given);
    return await given;
  } catch (error) {
    const away = connection !== undefined && connection.readyState !== OPEN;
    throw hookFailure("fetch", error, { away });
  }
}

/** An entity before and after `postFetch`. */
export interface Fetched {
  /** As it was fetched. */
  readonly stored: object;
  /** As its reader may see it. */
  readonly seen: object;
}

/**
 * Reads the one entity of a level and shows it to `postFetch`.
 *
 * @throws {RestError} 404 if there is none, or its reader may not see it.
 */
export async function fetchOne(call: Call, levelCall: LevelCall, source: Source): Promise<Fetched> {
  const { level } = levelCall;
  for await (const [stored] of fetchEntities(call, levelCall, source)) {
    if (stored === undefined) continue;
    const seen = await passHook(call, "postFetch", stored, { level });
    if (seen !== undefined) return { stored, seen };
    break;
  }
  throw notFound();
}

/** Makes what the hooks of a level get of an entity: a plain instance of the class, where it is not the document. */
function presenter({ level, state }: LevelCall): ((entity: object) => object) | undefined {
  const { hooks, target, shape } = level;
  if (hooks.lean !== true) {
    // A hook may have asked for the driver's own objects.
    const isRaw = state.options.lean !== undefined && state.options.lean !== false;
    return isRaw
      ? (entity) => isDocument(entity) ? entity : concealSecrets(entity, shape)
      : undefined;
  }
  return instanceMaker(target, shape, {
    shows: projected(projectionOf(readProjection(state.projection, shape), shape)),
    prefix: "",
  });
}

/** The name of a level's entity in the path; empty where the parent holds only one. */
export function entityName({ req }: Call, { level }: LevelCall): string {
  return level.parameter === undefined ? "" : String(req.params[level.parameter]);
}
