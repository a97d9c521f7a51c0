import type { Buffer } from "node:buffer";
import { notFound } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { readProjection, shownBy } from "../filter/projection.ts";
import type { Projection } from "../filter/projection.ts";
import { concealSecrets } from "../json/conceal_secrets.ts";
import type { ConcealOptions } from "../json/conceal_secrets.ts";
import { rememberShape } from "../schema/fields/shape.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { rawValues } from "../schema/mongoose/documents/document_values.ts";
import { instanceMaker } from "../sources/direct/instance_maker.ts";
import type { InstanceMaker } from "../sources/direct/instance_maker.ts";
import { StoredEntity } from "../sources/direct/stored_entity.ts";
import type { EntityName, PageRead } from "../sources/source.ts";
import { passHook, reportForgotten } from "./run_hooks.ts";
import { versionRead } from "./request/versions.ts";
import type { VersionRead } from "./request/versions.ts";
import { givenEntities, runFetch } from "./lists/given_entities.ts";
import { idParam } from "./request/call.ts";
import type { LevelCall, OpenLevel } from "./request/call.ts";
import type { Level } from "./request/route.ts";

/** An entity as the hooks of a level get it. */
export interface ReadEntity {
  readonly entity: object;
  /** Gives its current JSON text from its bytes; missing, or `undefined`, where it must be written from its values. */
  readonly json?: () => Buffer | undefined;
}

/** Reads the entities of a level, several at a time: by its `fetch` hook, or from its source. */
export async function* fetchEntities(
  at: OpenLevel,
  page?: PageRead,
): AsyncGenerator<readonly ReadEntity[]> {
  const { level: { hooks: { fetch }, kind, shape }, req, timeBudget } = at;
  if (fetch === undefined) return yield* readSource(at, page);
  const given = await runFetch(() => fetch(req), timeBudget);
  if (given === undefined && kind.many) reportForgotten(at, "fetch");
  for await (const entities of givenEntities(given, timeBudget)) {
    yield entities.map((entity) => ({
      entity: isDocument(entity) ? entity : rememberShape(entity, shape),
    }));
  }
}

async function* readSource(at: OpenLevel, page?: PageRead): AsyncGenerator<readonly ReadEntity[]> {
  const { origin, change } = at.level.kind;
  const present = presenter(at);
  const read = { forChange: change !== undefined, page };
  for await (const entities of origin === "list" ? at.source.list(read) : readEntity(at)) {
    yield entities.map(present);
  }
}

async function* readEntity(at: OpenLevel): AsyncGenerator<readonly object[]> {
  const { source, level: { kind: { origin, change } } } = at;
  const found = origin === "new"
    ? await source.newEntity()
    : change !== undefined
    ? await source.forChange(idParam(at))
    : await source.byId(idParam(at));
  if (found !== null) yield [found];
}

/** Reads an entity of a list by its identifier, whatever the client filters by. */
export async function fetchAnyway(at: OpenLevel, name: EntityName): Promise<object | undefined> {
  const found = await at.source.byId(name, true);
  return found === null ? undefined : presenter(at)(found).entity;
}

/** An entity before and after `postFetch`. */
export interface Fetched extends VersionRead {
  readonly read: ReadEntity;
  /** As its reader may see it. */
  readonly seen: object;
}

/**
 * Reads the one entity of a level and shows it to `postFetch`.
 *
 * @throws {RestError} 404 if there is none, or its reader may not see it.
 */
export async function fetchOne(at: OpenLevel): Promise<Fetched> {
  for await (const [read] of fetchEntities(at)) {
    if (read === undefined) continue;
    // `postFetch` may change what tells the version.
    const version = versionRead(read.entity, at);
    const seen = await passHook(at, "postFetch", { entity: read.entity });
    if (seen !== undefined) return { ...version, read, seen };
    break;
  }
  throw notFound();
}

type Present = (found: object) => ReadEntity;

/** Presents entities to the hooks of a level: as documents, instances of the class, or the driver's own objects. */
function presenter({ level, state }: LevelCall): Present {
  const { hooks, kind, shape } = level;
  if (kind.change !== undefined) return presentDocument;
  const populates = state.options.populate !== undefined;
  const isRaw = state.options.lean !== undefined && state.options.lean !== false;
  if (hooks.lean === true) {
    const make = makerFor(level, {
      projection: readProjection(state.projection, shape),
      populates,
    });
    return (found) => presentInstance(found, { make, level });
  }
  return isRaw ? presentRaw({ shape, populates }) : presentDocument;
}

/** The makers of whole instances, by level. */
const makers = new WeakMap<Level, InstanceMaker>();

function makerFor(
  level: Level,
  { projection, populates }: { readonly projection: Projection; readonly populates: boolean },
): InstanceMaker {
  const { target, shape } = level;
  const isWhole = isEmpty(projection) && !populates;
  const known = isWhole ? makers.get(level) : undefined;
  if (known !== undefined) return known;
  const shows = shownBy(projection, shape);
  const make = instanceMaker(target, { shape, shows, prefix: "", populates });
  if (isWhole) makers.set(level, make);
  return make;
}

function presentDocument(found: object): ReadEntity {
  if (!(found instanceof StoredEntity)) return { entity: found };
  const entity = found.document();
  const json = () => Object.hasOwn(entity, "toJSON") ? undefined : found.json(rawValues(entity));
  return { entity, json };
}

function presentInstance(
  found: object,
  { make, level: { shape, target } }: { readonly make: InstanceMaker; readonly level: Level },
): ReadEntity {
  if (!(found instanceof StoredEntity)) return { entity: make(found) };
  const entity = make(found.values) as Record<string, unknown>;
  const json = () => {
    const isUsual = !("toJSON" in entity) && Object.getPrototypeOf(entity) === target.prototype &&
      // Copies of documents are marked by symbols.
      Object.getOwnPropertySymbols(entity).length === 0 &&
      // What a hook has added is shown, too.
      Object.keys(entity).every((name) => shape.fields.has(name));
    return isUsual ? found.json(entity) : undefined;
  };
  return { entity, json };
}

/** Presents the driver's own objects, for which a hook may have asked. */
function presentRaw(options: ConcealOptions): Present {
  return (found) => {
    const entity = found instanceof StoredEntity ? found.values : found;
    return { entity: isDocument(entity) ? entity : concealSecrets(entity, options) };
  };
}
