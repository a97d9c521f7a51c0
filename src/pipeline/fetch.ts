import { OPERATIONS } from "../declare/operations/operation.ts";
import { notFound } from "../errors/refusals.ts";
import { readProjection, shownBy } from "../filter/projection.ts";
import { concealSecrets } from "../json/conceal_secrets.ts";
import { rememberShape } from "../schema/fields/shape_of_instance.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { instanceMaker } from "../sources/direct/reads/instance_maker.ts";
import type { PageRead } from "../sources/source.ts";
import { passHook, reportForgotten } from "./run_hooks.ts";
import { versionIn } from "./request/versions.ts";
import type { Version } from "../schema/fields/version.ts";
import { givenEntities, runFetch } from "./lists/given_entities.ts";
import { idParam } from "./request/call.ts";
import type { LevelCall, OpenLevel } from "./request/call.ts";

/** Reads the entities of a level, several at a time: by its `fetch` hook, or from its source. */
export async function* fetchEntities(
  at: OpenLevel,
  page?: PageRead,
): AsyncGenerator<readonly object[]> {
  const { level: { hooks: { fetch }, operation, shape }, req, timeBudget } = at;
  if (fetch === undefined) return yield* readSource(at, page);
  const given = await runFetch(() => fetch(req), timeBudget);
  if (given === undefined && OPERATIONS[operation].many) reportForgotten(at, "fetch");
  for await (const entities of givenEntities(given, timeBudget)) {
    yield entities.map((each) => isDocument(each) ? each : rememberShape(each, shape));
  }
}

async function* readSource(at: OpenLevel, page?: PageRead): AsyncGenerator<readonly object[]> {
  const { origin, change } = OPERATIONS[at.level.operation];
  const present = presenter(at);
  const read = { forChange: change !== undefined, page };
  for await (const entities of origin === "list" ? at.source.list(read) : readEntity(at)) {
    yield present === undefined ? entities : entities.map(present);
  }
}

async function* readEntity(at: OpenLevel): AsyncGenerator<readonly object[]> {
  const { source, level: { operation } } = at;
  const { origin, change } = OPERATIONS[operation];
  const found = origin === "new"
    ? await source.newEntity()
    : change !== undefined
    ? await source.forChange(idParam(at))
    : await source.byId(idParam(at));
  if (found !== null) yield [found];
}

/** Reads an entity of a list by its identifier, whatever the client filters by. */
export async function fetchAnyway(at: OpenLevel, id: string): Promise<object | undefined> {
  const found = await at.source.byId(id, true) ?? undefined;
  const present = presenter(at);
  return found === undefined || present === undefined ? found : present(found);
}

/** An entity before and after `postFetch`. */
export interface Fetched {
  readonly stored: object;
  /** As its reader may see it. */
  readonly seen: object;
  /** The version that it was read with, whatever `postFetch` makes of it; `undefined` if it was read without. */
  readonly version: Version | undefined;
}

/**
 * Reads the one entity of a level and shows it to `postFetch`.
 *
 * @throws {RestError} 404 if there is none, or its reader may not see it.
 */
export async function fetchOne(at: OpenLevel): Promise<Fetched> {
  for await (const [stored] of fetchEntities(at)) {
    if (stored === undefined) continue;
    const version = versionIn(stored, at);
    const seen = await passHook(at, "postFetch", { entity: stored });
    if (seen !== undefined) return { stored, seen, version };
    break;
  }
  throw notFound();
}

/** Makes what the hooks of a level get of an entity: an instance of the class, where it is not the document. */
function presenter({ level, state }: LevelCall): ((entity: object) => object) | undefined {
  const { hooks, target, shape } = level;
  const populates = state.options.populate !== undefined;
  if (hooks.lean !== true) {
    // A hook may have asked for the driver's own objects.
    const isRaw = state.options.lean !== undefined && state.options.lean !== false;
    return isRaw
      ? (entity) => isDocument(entity) ? entity : concealSecrets(entity, { shape, populates })
      : undefined;
  }
  return instanceMaker(target, {
    shape,
    shows: shownBy(readProjection(state.projection, shape), shape),
    prefix: "",
    populates,
  });
}
