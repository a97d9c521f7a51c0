import type { Hooks, MaybePromise } from "../declare/hooks/hooks.ts";
import { StoreFailure } from "../errors/failure.ts";
import { notFound } from "../errors/refusals.ts";
import { isEmpty } from "../filter/filters.ts";
import { type Projection, readProjection, shownBy, showsWhole } from "../filter/projection.ts";
import { rememberShape } from "../schema/fields/instance_shapes.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { populatedPaths } from "../schema/mongoose/statements/query_casts.ts";
import { savesOf } from "../schema/mongoose/statements/save_by.ts";
import { type InstanceMaker, instanceMaker } from "../sources/collection/instance_maker.ts";
import { castKeyInPath } from "../sources/entities.ts";
import { StoredEntity } from "../sources/collection/bson_reads.ts";
import type { EntitiesRead, EntityName, PageRead, Read, ReadRequest } from "../sources/source.ts";
import { factsOf } from "../write/document_facts.ts";
import { readSnapshot } from "../write/stored_values.ts";
import { readBy } from "../declare/hooks/named_fields.ts";
import { readAlso } from "../sources/entity_fields.ts";
import { checkHookValues } from "./hook_values.ts";
import { fieldHooksOf } from "./field_hooks.ts";
import { passHook, reportForgotten } from "./pass_hooks.ts";
import { type VersionRead, versionRead } from "./request/versions.ts";
import { givenEntities, runFetch } from "./lists/given_entities.ts";
import { mapInOrder } from "../sources/lists/map_in_order.ts";
import { onConnectionClose } from "./request/response.ts";
import {
  idParam,
  type LevelContext,
  type OpenLevelContext,
  separatorOf,
} from "./request/request_context.ts";
import type { Level } from "./request/route.ts";

export async function prepareRead(context: OpenLevelContext): Promise<Read> {
  if (context.level.hooks.fetch !== undefined) {
    return readOfFetchHook(context, context.level.hooks.fetch);
  }
  const read = await context.source.read(requestOf(context));
  if (read.kind === "documents") return forHooks(context, read);
  if (!read.runsHooks) return read;
  return { ...read, list: () => untilClientLeaves(context, generated(read.list())) };
}

async function* generated<T>(list: AsyncIterable<T>): AsyncGenerator<T> {
  yield* list;
}

/** Writes change entities, so this never reads bytes. */
export async function prepareEntitiesRead(context: OpenLevelContext): Promise<EntitiesRead> {
  if (context.level.hooks.fetch !== undefined) {
    return readOfFetchHook(context, context.level.hooks.fetch);
  }
  return forHooks(context, await context.source.readEntities(requestOf(context)));
}

function requestOf(context: OpenLevelContext): ReadRequest {
  const { level: { hooks, traits }, pieces: { shown, fills } } = context;
  return {
    hooks,
    forChange: traits.change !== undefined,
    select: shown,
    finder: fills,
    separator: separatorOf(context),
    fieldHooks: fieldHooksOf(context),
  };
}

function readOfFetchHook(
  context: OpenLevelContext,
  fetch: NonNullable<Hooks<object>["fetch"]>,
): EntitiesRead {
  return {
    kind: "documents",
    list: () => untilClientLeaves(context, readGiven(context, fetch)),
    async one() {
      for await (const [entity] of readGiven(context, fetch)) {
        if (entity !== undefined) return entity;
      }
      return null;
    },
  };
}

function forHooks(context: OpenLevelContext, { list, one }: EntitiesRead): EntitiesRead {
  const show = hookValueMaker(context);
  const names = lackedFields(context);
  const { link } = context.level;
  const isOnly = link?.embedded === true && !link.array;
  const toHookValue = async (found: object): Promise<object> => {
    const entity = show(found);
    await readAlso(context.source, { entity, names, isOnly });
    return entity;
  };
  async function* valuesForHooks(page?: PageRead): AsyncGenerator<readonly object[]> {
    for await (const found of list(page)) {
      yield names.length === 0 ? found.map(show) : await Promise.all(found.map(toHookValue));
    }
  }
  return {
    kind: "documents",
    list: (page) => untilClientLeaves(context, valuesForHooks(page)),
    async one(name, ignoresClient) {
      const found = await one(name, ignoresClient);
      return found && (names.length === 0 ? show(found) : await toHookValue(found));
    },
  };
}

/**
 * Stops a read when the client disconnects, or else a hook that never returns keeps the database cursor open. Writes go
 * on.
 */
async function* untilClientLeaves<T>(
  { req, level }: OpenLevelContext,
  lists: AsyncGenerator<T>,
): AsyncGenerator<T> {
  if (level.traits.change !== undefined) return yield* lists;
  const end = () => void lists.return(undefined).catch(() => {});
  const stopListening = onConnectionClose(req.socket, end);
  try {
    yield* lists;
  } finally {
    stopListening();
  }
}

async function* readGiven(
  context: OpenLevelContext,
  fetch: NonNullable<Hooks<object>["fetch"]>,
): AsyncGenerator<readonly object[]> {
  const { level: { traits, shape }, req, timeBudget } = context;
  const given = await runFetch(() => fetch(req), timeBudget);
  if (given === undefined && traits.many) reportForgotten(context, "fetch");
  for await (const entities of givenEntities(given, timeBudget)) {
    for (const each of entities) checkHookValues(context, { hook: "fetch", entity: each });
    yield entities.map((entity) => isDocument(entity) ? entity : rememberShape(entity, shape));
  }
}

async function readEntity(
  context: OpenLevelContext,
  read?: EntitiesRead,
): Promise<object | undefined> {
  const { source, claim, level: { traits: { origin }, hooks: { fetch } } } = context;
  if (origin === "new" && fetch === undefined) return await source.newEntity(claim?.takeId());
  const found = await (read ?? await prepareEntitiesRead(context)).one(idParam(context));
  if (found !== null || origin !== "byKey") return found ?? undefined;
  const { shape, writes: { by = "_id" } = {} } = context.level;
  const key = castKeyInPath(idParam(context), { by, shape });
  // If `by` names another field, the body has its value already, and an `_id` is generated.
  return key === undefined ? undefined : await source.newEntity(by === "_id" ? key : undefined);
}

/** Throws for too many entities before any of them is changed. */
export async function selectEntities(context: OpenLevelContext, limit: number): Promise<object[]> {
  const { hooks: { postFetch } } = context.level;
  const isShort = Number(context.state.options.limit ?? Infinity) <= limit;
  const page = postFetch !== undefined || isShort || limit === Infinity
    ? undefined
    : { skip: 0, limit, paths: [] };
  const pass = (entity: object) => passPostFetch(context, entity);
  const passed: object[] = [];
  const read = await prepareEntitiesRead(context);
  for await (const some of mapInOrder(read.list(page), pass)) {
    passed.push(...some);
    if (passed.length > limit) throw new StoreFailure({ kind: "tooMany", limit });
  }
  return passed;
}

/** Without the client's filter, because a change may have moved the entity out of it. */
export async function fetchAnyway(
  context: OpenLevelContext,
  name: EntityName,
): Promise<object | undefined> {
  const read = await context.source.readEntities({ ...requestOf(context), forChange: false });
  return await forHooks(context, read).one(name, true) ?? undefined;
}

export interface Fetched extends VersionRead {
  readonly entity: object;
  readonly passed: object;
}

export async function fetchOne(context: OpenLevelContext, opened?: EntitiesRead): Promise<Fetched> {
  const entity = await readEntity(context, opened);
  if (entity === undefined) throw notFound();
  // `postFetch` may change the version field, so it is read before, and again if the hook has saved the entity.
  const read = versionRead(entity, context);
  const saves = savesOf(entity);
  const passed = await passPostFetch(context, entity);
  if (passed === undefined) throw notFound();
  const version = savesOf(entity) === saves ? read : versionRead(entity, context);
  return { ...version, entity, passed };
}

/** Keeps the values from before the hook. If another request changes them, the write then fails. */
export function passPostFetch(
  context: OpenLevelContext,
  entity: object,
): MaybePromise<object | undefined> {
  const { hooks: { postFetch }, traits, shape } = context.level;
  const isWritten = traits.change !== undefined && isDocument(entity) && !entity.isNew;
  if (postFetch !== undefined && isWritten) {
    readSnapshot(entity);
    // Fields with `apart` are not in the document, so the write cannot compare them.
    const read = readBy(postFetch);
    factsOf(entity).readByHooks = read.filter((name) => !shape.fields.get(name)?.apart);
  }
  return passHook(context, "postFetch", { entity });
}

function lackedFields({ level: { hooks, traits, shape }, state }: LevelContext): string[] {
  const names = Object.values(hooks as Readonly<Record<string, unknown>>).flatMap((hook) =>
    typeof hook === "function" ? readBy(hook) : []
  );
  const projection = readProjection(state.projection, shape);
  return [...new Set(names)].filter((name) => {
    const { selected = true, apart = false } = shape.fields.get(name) ?? {};
    return apart || traits.change === undefined && !(selected && showsWhole(name, projection));
  });
}

type ToHookValue = (found: object) => object;

/**
 * Hooks of writes get documents, because only documents can be saved. With `lean`, hooks of reads get instances of the
 * class.
 */
function hookValueMaker({ level, state }: LevelContext): ToHookValue {
  const { hooks, traits, shape } = level;
  if (traits.change !== undefined) return toDocument;
  const populated = populatedPaths(state.options.populate);
  if (hooks.lean !== true && !state.options.lean) return toDocument;
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
  const cached = isWhole ? makers.get(level) : undefined;
  if (cached !== undefined) return cached;
  const shows = shownBy(projection, shape);
  const make = instanceMaker(target, { shape, shows, prefix: "", populated });
  if (isWhole) makers.set(level, make);
  return make;
}

function toDocument(found: object): object {
  return found instanceof StoredEntity ? found.document() : found;
}
