import type { ClientSession, Model, PipelineStage } from "mongoose";
import { takeTurns } from "../../database/take_turns.ts";
import { outOfReach } from "../../errors/refusals.ts";
import { everyFilter, fieldsRead, KEEP_CONDITIONS, topOf } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasNoVersion, hasVersion } from "../../filter/versions.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { matchAsIs, writeAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { applyUpdate, writtenPaths } from "../../write/check_scope.ts";
import { versionKey } from "../../schema/fields/system_fields.ts";
import { sameAsStored } from "../../write/update_conditions.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import { isExpressible } from "./place.ts";
import type { Place } from "./place.ts";

/** How often an update is tried when others change what it depends on. */
const MAX_ATTEMPTS = 20;

/** Makes an update of an entity as it is stored; `undefined` writes nothing. */
export type MakeUpdate = (entity: StoredObject) => Promise<Update | undefined> | Update | undefined;

interface WriteOptions {
  /** The condition on the entity, cast. */
  readonly condition?: Filter | undefined;
  readonly session?: ClientSession | undefined;
  /** Whether the version stays: to its readers the document is the same. */
  readonly keepsVersion?: boolean;
  /** Whether the update removes the entity itself: its own scope does not bind what is left. */
  readonly removesEntity?: boolean;
}

export interface UpdateOptions extends WriteOptions {
  /** Makes the update of what is stored, without the condition, where one statement has not matched or cannot tell. */
  readonly otherwise?: MakeUpdate;
}

/**
 * Updates a place: nothing is written unless all that leads to the entity is still there and in its scope, and stays in
 * it. One statement does so, unless the result has to be checked first.
 *
 * @param update The update, its paths from the root, all below one property.
 * @returns `false` if nothing leads to the entity, there was nothing to write, or others were faster each time.
 * @throws {RestError} 403 if the update leaves a scope on the way.
 */
export async function updatePlace(
  place: Place,
  update: Update,
  { otherwise, condition = {}, ...options }: UpdateOptions = {},
): Promise<boolean> {
  const paths = writtenPaths(completeUpdate(place, update));
  if (isExpressible(condition) && place.keepsScopes(paths)) {
    const write = () => sendUpdate(place, update, { ...options, condition });
    if (await withLists(place, { write, options })) return true;
    if (otherwise === undefined) return false;
  }
  const [property = "_id"] = writtenPaths(update).map(topOf);
  return otherwise === undefined
    ? await rewritePlace(place, () => update, { ...options, condition, property })
    : await rewritePlace(place, otherwise, { ...options, property });
}

/** Updates a place as {@linkcode updatePlace} does, with an update that depends on what is stored. */
export async function rewritePlace(
  place: Place,
  make: MakeUpdate,
  options: CheckedOptions,
): Promise<boolean> {
  return await withLists(place, { write: () => updateChecked(place, make, options), options });
}

interface ListedWrite {
  readonly write: () => Promise<boolean>;
  readonly options: WriteOptions;
}

/** Writes. If nothing matched, an object may be stored where a list belongs: it is made a list, and the write is repeated. */
async function withLists(place: Place, { write, options }: ListedWrite): Promise<boolean> {
  return await write() || await makeLists(place, options) && await write();
}

/** Makes lists of single objects that are stored on the way where lists belong; tells whether there were any. */
async function makeLists(place: Place, { session }: WriteOptions): Promise<boolean> {
  for (const [index, { property, id }] of place.steps.entries()) {
    if (id === undefined) continue;
    const outer = place.upTo(index);
    const make: MakeUpdate = ({ [property]: stored }) =>
      isJsonObject(stored) ? { $set: { [outer.path(property)]: [stored] } } : undefined;
    if (await updateChecked(outer, make, { property, session, keepsVersion: true })) return true;
  }
  return false;
}

interface CheckedOptions extends WriteOptions {
  /** The property that the update changes, where the entity is a whole document. */
  readonly property: string;
}

/**
 * Reads the document, has the database match the result of the update with the scopes, and writes only if nothing that was
 * read has changed meanwhile.
 */
async function updateChecked(
  place: Place,
  make: MakeUpdate,
  options: CheckedOptions,
): Promise<boolean> {
  const run = async () => {
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      const isWritten = await tryCheckedUpdate(place, make, options);
      if (isWritten !== undefined) return isWritten;
    }
    return false;
  };
  // A transaction has its turn already.
  if (options.session !== undefined) return await run();
  const { model, rootName: name, timeBudget } = place;
  return await takeTurns({ owner: model.db.getClient(), name, timeBudget }, run);
}

/** Tries a checked update once; `undefined` if another write was faster. */
async function tryCheckedUpdate(
  place: Place,
  make: MakeUpdate,
  { property, removesEntity = false, ...options }: CheckedOptions,
): Promise<boolean | undefined> {
  const { model, id, scope, version, steps: [step], timeBudget } = place;
  const { condition = {}, session } = options;
  const read = fieldsRead(scope);
  // The fields of the scope, and the one that is written; or else the whole document.
  const fields = read && [...new Set(["_id", ...read, step?.property ?? property])];
  const project = fields && { $project: Object.fromEntries(fields.map((field) => [field, 1])) };
  const stages = [
    { $match: everyFilter({ _id: id }, scope, version) },
    ...project ? [project] : [],
  ];
  const maxTimeMS = Math.max(1, Math.ceil(timeBudget.left));
  const given = { ...AS_STORED, maxTimeMS, ...session && { session } };
  const [root] = await model.collection.aggregate(stages, given).toArray() as StoredObject[];
  if (root === undefined) return false;
  const follow = (stored: StoredObject, to: readonly PipelineStage[]) =>
    aggregateDocument(model, { root: stored, stages: to, maxTimeMS });
  const [entity] = await follow(root, [...place.stages(), { $match: condition }]);
  const update = entity && await make(entity);
  if (update === undefined) return false;
  const written = completeUpdate(place, update);
  const result = applyUpdate(root, { update: written, elements: place.elementIds() });
  const [left] = await follow(result, (removesEntity ? place.upTo(-1) : place).stages());
  if (left === undefined) throw outOfReach();
  const unchanged = unchangedSince(root, fields);
  return await sendUpdate(place, update, { ...options, unchanged }) || undefined;
}

/** The condition that a document, or some of its fields, are stored as they were read. */
function unchangedSince(root: StoredObject, fields: readonly string[] | undefined): Filter {
  if (fields === undefined) return { $expr: sameAsStored("$$ROOT", { value: root }) };
  const same = fields.map((field) =>
    Object.hasOwn(root, field)
      ? sameAsStored(`$${field}`, { value: root[field] })
      : { $eq: [{ $type: `$${field}` }, "missing"] }
  );
  return { $expr: { $and: same } };
}

/** Options that read values as they are stored: nothing is lost when they are written again. */
const AS_STORED = {
  promoteValues: false,
  promoteLongs: false,
  promoteBuffers: false,
  bsonRegExp: true,
  enableUtf8Validation: false,
} as const;

export interface DocumentStages {
  readonly root: StoredObject;
  readonly stages: readonly PipelineStage[];
  readonly maxTimeMS?: number;
}

/** Runs stages on a given document instead of a stored one. */
export async function aggregateDocument(
  { db }: Model<unknown>,
  { root, stages, ...options }: DocumentStages,
): Promise<StoredObject[]> {
  const all = [{ $documents: [{ $literal: root }] }, ...stages];
  return await db.db?.aggregate(all as never, { ...AS_STORED, ...options }).toArray() ?? [];
}

interface SendOptions extends WriteOptions {
  /** The condition that nothing has changed of what was checked. */
  readonly unchanged?: Filter;
}

/**
 * Updates the document of a place in one statement, which repeats every identifier and every expressible scope on the
 * way. Its version goes up; one that is no whole number becomes 1, by another statement.
 *
 * @returns `false` if a condition did not hold.
 */
async function sendUpdate(place: Place, update: Update, options: SendOptions): Promise<boolean> {
  const { keepsVersion = false, condition = {}, unchanged = {} } = options;
  const { model, id, timeBudget } = place;
  const key = versionKey(model);
  const send = async (counted: Update, version: Filter = {}) => {
    const query = model.updateOne(
      { _id: id },
      { ...counted, $set: { ...stampsOf(place, update), ...counted.$set } } as never,
      {
        ...KEEP_CONDITIONS,
        arrayFilters: Object.entries(place.elementIds()).map(([name, _id]) => ({
          [`${name}._id`]: _id,
        })),
        ...timeBudget.statement(options.session),
      } as never,
    );
    matchAsIs(query, everyFilter(place.conditions(condition), unchanged, version));
    writeAsIs(query, counted);
    const { matchedCount } = await query.exec();
    // Where a connection keeps numbers in objects, they are no zeros.
    return Number(matchedCount) !== 0;
  };
  if (keepsVersion || key === undefined) return await send(update);
  const next = () => send(versionUpdate(place, update), hasVersion(key));
  if (await next()) return true;
  if (place.isCounted) return false;
  // Another request may count the version in the meantime.
  return await send({ ...update, $set: { ...update.$set, [key]: 1 } }, hasNoVersion(key)) ||
    await next();
}

/** The update with all that {@linkcode sendUpdate} and Mongoose add to it, so that scopes can be compared with its paths. */
function completeUpdate(place: Place, update: Update): Update {
  const { updatedAt } = stampFields(place.model.schema);
  const stamps = { ...stampsOf(place, update), ...updatedAt && { [updatedAt]: new Date() } };
  const counted = versionUpdate(place, update);
  if (Object.keys(stamps).length === 0) return counted;
  return { ...counted, $set: { ...stamps, ...update.$set } };
}

function versionUpdate({ model }: Place, update: Update): Update {
  const key = versionKey(model);
  return key !== undefined ? { ...update, $inc: { ...update.$inc, [key]: 1 } } : update;
}

/** The `updatedAt` of every object around the change. Mongoose sets that of the root only. */
function stampsOf(place: Place, update: Update): Record<string, Date> {
  const written = writtenPaths(update);
  if (written.length === 0) return {};
  const stamps = place.steps.flatMap(({ stamp }, index) =>
    stamp === undefined ? [] : [place.upTo(index + 1).path(stamp)]
  );
  const free = stamps.filter((path) =>
    !written.some((other) => `${path}.`.startsWith(`${other}.`))
  );
  return Object.fromEntries(free.map((path) => [path, new Date()]));
}
