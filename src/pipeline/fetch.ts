import type { Hooks, MaybePromise } from "../declare/hooks/hooks.ts";
import { notFound, tooMany } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { type Projection, readProjection, shownBy } from "../filter/projection.ts";
import { rememberShape } from "../schema/fields/instance_shapes.ts";
import { byIdentifier } from "../schema/fields/system_fields.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { populatedPaths } from "../schema/mongoose/statements/query_casts.ts";
import { savesOf } from "../schema/mongoose/statements/save_by.ts";
import { type InstanceMaker, instanceMaker } from "../sources/direct/instance_maker.ts";
import { StoredEntity } from "../sources/direct/stored_reader.ts";
import type { EntitiesRead, EntityName, PageRead, Read, ReadRequest } from "../sources/source.ts";
import { keptValues } from "../write/stored_values.ts";
import { checkHookValues } from "./hook_values.ts";
import { passHook, reportForgotten } from "./pass_hooks.ts";
import { type VersionRead, versionRead } from "./request/versions.ts";
import { givenEntities, runFetch } from "./lists/given_entities.ts";
import { mapInOrder } from "./lists/map_in_order.ts";
import { onConnectionClose } from "./request/reply.ts";
import { idParam, type LevelCall, type OpenLevel, separatorOf } from "./request/call.ts";
import type { Level } from "./request/route.ts";

/** Opens the read of a level. Its entities are those that hooks get: by the `fetch` hook, or from the source. */
export async function openRead(at: OpenLevel): Promise<Read> {
  if (at.level.hooks.fetch !== undefined) return openGiven(at, at.level.hooks.fetch);
  const read = await at.source.read(requestOf(at));
  return read.kind === "bytes" ? read : presented(at, read);
}

/** Opens a read of entities for hooks, also where no hook of the level gets them. */
export async function openEntities(at: OpenLevel): Promise<EntitiesRead> {
  if (at.level.hooks.fetch !== undefined) return openGiven(at, at.level.hooks.fetch);
  return presented(at, await at.source.readEntities(requestOf(at)));
}

function requestOf(at: OpenLevel): ReadRequest {
  const { level: { hooks, kind }, asked: { select }, finder } = at;
  return {
    hooks,
    forChange: kind.change !== undefined,
    select,
    finder,
    separator: separatorOf(at),
  };
}

function openGiven(at: OpenLevel, fetch: NonNullable<Hooks<object>["fetch"]>): EntitiesRead {
  return {
    kind: "documents",
    list: () => untilClientLeaves(at, readGiven(at, fetch)),
    async one() {
      for await (const [entity] of readGiven(at, fetch)) if (entity !== undefined) return entity;
      return null;
    },
  };
}

function presented(at: OpenLevel, { list, one }: EntitiesRead): EntitiesRead {
  const present = presenter(at);
  async function* presentAll(page?: PageRead): AsyncGenerator<readonly object[]> {
    for await (const found of list(page)) yield found.map(present);
  }
  return {
    kind: "documents",
    list: (page) => untilClientLeaves(at, presentAll(page)),
    async one(name, ignoresClient) {
      const found = await one(name, ignoresClient);
      return found && present(found);
    },
  };
}

/** Ends a read when its client leaves, except of a write: a hook that never ends would keep the cursor open. */
async function* untilClientLeaves<T>(
  { req, level }: OpenLevel,
  lists: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (level.kind.change !== undefined) return yield* lists;
  const end = () => void lists.return(undefined).catch(() => {});
  const stopListening = onConnectionClose(req.socket, end);
  try {
    yield* lists;
  } finally {
    stopListening();
  }
}

async function* readGiven(
  at: OpenLevel,
  fetch: NonNullable<Hooks<object>["fetch"]>,
): AsyncGenerator<readonly object[]> {
  const { level: { kind, shape }, req, timeBudget } = at;
  const given = await runFetch(() => fetch(req), timeBudget);
  if (given === undefined && kind.many) reportForgotten(at, "fetch");
  for await (const entities of givenEntities(given, timeBudget)) {
    for (const each of entities) checkHookValues(at, { hook: "fetch", entity: each });
    yield entities.map((entity) => isDocument(entity) ? entity : rememberShape(entity, shape));
  }
}

async function readEntity(at: OpenLevel, read?: EntitiesRead): Promise<object | undefined> {
  const { source, opened: { key }, level: { kind: { origin }, hooks: { fetch } } } = at;
  if (origin === "new" && fetch === undefined) return await source.newEntity(key?.takeId());
  const found = await (read ?? await openEntities(at)).one(idParam(at));
  return found ?? (origin === "byKey" ? await source.newEntity(newIdentifier(at)) : undefined);
}

/** The identifier that the path of a replacement gives to a new entity, if it names one. */
function newIdentifier(at: OpenLevel): unknown {
  return at.level.writes?.by === "_id" ? byIdentifier(idParam(at))?._id : undefined;
}

/** Reads the entities that a change of many selects; a 409 if its reader may see more of them than the limit. */
export async function selectEntities(at: OpenLevel, limit: number): Promise<object[]> {
  const { hooks: { postFetch } } = at.level;
  const isShort = Number(at.state.options.limit ?? Infinity) <= limit;
  const page = postFetch !== undefined || isShort || limit === Infinity
    ? undefined
    : { skip: 0, limit, paths: [] };
  const pass = (entity: object) => passPostFetch(at, entity);
  const seen: object[] = [];
  const read = await openEntities(at);
  for await (const some of mapInOrder(read.list(page), pass)) {
    seen.push(...some);
    if (seen.length > limit) throw tooMany(limit);
  }
  return seen;
}

/** Reads an entity of a source by its identifier, as a read shows it, whatever the client filters by. */
export async function fetchAnyway(at: OpenLevel, name: EntityName): Promise<object | undefined> {
  const read = await at.source.readEntities({ ...requestOf(at), forChange: false });
  return await presented(at, read).one(name, true) ?? undefined;
}

export interface Fetched extends VersionRead {
  readonly entity: object;
  /** As its reader may see it. */
  readonly seen: object;
}

/** Reads the one entity of a level, or makes a new one, and shows it to `postFetch`. */
export async function fetchOne(at: OpenLevel, opened?: EntitiesRead): Promise<Fetched> {
  const entity = await readEntity(at, opened);
  if (entity === undefined) throw notFound();
  // `postFetch` may change what tells the version, or save the entity.
  const read = versionRead(entity, at);
  const saves = savesOf(entity);
  const seen = await passPostFetch(at, entity);
  if (seen === undefined) throw notFound();
  const version = savesOf(entity) === saves ? read : versionRead(entity, at);
  return { ...version, entity, seen };
}

/** Runs `postFetch` on an entity that may be written later: its stored values are kept before the hook changes some. */
function passPostFetch(at: OpenLevel, entity: object): MaybePromise<object | undefined> {
  const { hooks: { postFetch }, kind } = at.level;
  const isWritten = kind.change !== undefined && isDocument(entity) && !entity.isNew;
  if (postFetch !== undefined && isWritten) keptValues(entity);
  return passHook(at, "postFetch", { entity });
}

type Present = (found: object) => object;

/** Presents entities to the hooks of a level: as documents, or as instances of the class. */
function presenter({ level, state }: LevelCall): Present {
  const { hooks, kind, shape } = level;
  if (kind.change !== undefined) return presentDocument;
  const populated = populatedPaths(state.options.populate);
  if (hooks.lean !== true && !state.options.lean) return presentDocument;
  const projection = readProjection(state.projection, shape);
  const make = makerFor(level, { projection, populated });
  return (found) => {
    const values = found instanceof StoredEntity ? found.values : found;
    return isDocument(values) ? values : make(values);
  };
}

const makers = new WeakMap<Level, InstanceMaker>();

function makerFor(
  level: Level,
  { projection, populated }: {
    readonly projection: Projection;
    readonly populated: ReadonlySet<string>;
  },
): InstanceMaker {
  const { target, shape } = level;
  const isWhole = isEmpty(projection) && populated.size === 0;
  const known = isWhole ? makers.get(level) : undefined;
  if (known !== undefined) return known;
  const shows = shownBy(projection, shape);
  const make = instanceMaker(target, { shape, shows, prefix: "", populated });
  if (isWhole) makers.set(level, make);
  return make;
}

function presentDocument(found: object): object {
  return found instanceof StoredEntity ? found.document() : found;
}
