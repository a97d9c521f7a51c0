import { notFound } from "../errors/refusals.ts";
import { projected } from "../shape/projected.ts";
import { toInstance } from "../shape/to_instance.ts";
import type { Source } from "../sources/source.ts";
import type { Call, LevelCall } from "./call.ts";
import { passHook } from "./guard.ts";

/** Reads the entities of a level: by its `fetch` hook, or from its source. No hook but `fetch` has seen them. */
export async function* fetchEntities(
  call: Call,
  levelCall: LevelCall,
  source: Source,
): AsyncGenerator<object> {
  const { level } = levelCall;
  const { fetch } = level.hooks;
  const { operation } = call.route;
  if (fetch !== undefined) {
    const given: unknown = await call.patience.wait(Promise.resolve(fetch(call.req)));
    yield* isIterable(given) ? given : isEntity(given) ? [given] : [];
    return;
  }
  const acts = level === call.acting.level;
  if (acts && operation.fetch === "list") {
    for await (const entity of source.list(operation.change !== undefined)) {
      yield present(entity, levelCall);
    }
    return;
  }
  const id = entityName(call, levelCall);
  const found = acts && operation.fetch === "fresh"
    ? await source.fresh()
    : acts && operation.change !== undefined
    ? await source.forChange(id)
    : await source.byId(id);
  if (found !== null) yield present(found, levelCall);
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
  for await (const stored of fetchEntities(call, levelCall, source)) {
    const seen = await passHook(levelCall.level.hooks.postFetch, call, stored);
    if (seen !== undefined) return { stored, seen };
    break;
  }
  throw notFound();
}

/** What the hooks of a level get: the mapper's document, or a plain instance of the class. */
function present(entity: object, { level, state }: LevelCall): object {
  const { hooks, target, shape } = level;
  if (hooks.lean !== true) return entity;
  return toInstance(entity, target, shape, { shows: projected(state.projection), prefix: "" });
}

/** The name of a level's entity in the path; empty where the parent holds only one. */
export function entityName({ req }: Call, { level }: LevelCall): string {
  return level.parameter === undefined ? "" : String(req.params[level.parameter]);
}

function isEntity(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isIterable(value: unknown): value is Iterable<object> | AsyncIterable<object> {
  return isEntity(value) && (Array.isArray(value) || Symbol.asyncIterator in value);
}
