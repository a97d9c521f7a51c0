import type { ClientSession, Connection, Model, PipelineStage } from "mongoose";
import { takeTurns } from "../../database/in_transaction.ts";
import { outOfReach } from "../../errors/refusals.ts";
import { everyFilter, fieldsRead, KEEP_CONDITIONS, topOf } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasNoVersion, hasVersion } from "../../filter/versions.ts";
import { copyJson, isJsonObject } from "../../schema/fields/json.ts";
import { versionKey } from "../../schema/fields/system_fields.ts";
import { aggregateValues } from "../../schema/mongoose/statements/commands.ts";
import { matchAsIs, writeAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { setFields, writtenPaths } from "../../write/check_scope.ts";
import { storedText } from "../../write/stored_values.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import { sameAsStored } from "../../write/update_conditions.ts";
import { conditionsOf, isExpressible, keepsScopes, pathIn, stagesTo, turnAt } from "./place.ts";
import type { Place, Step } from "./place.ts";

/** How often a change is tried when others change what it depends on. */
const MAX_ATTEMPTS = 20;

/** Fields of an entity with their new values; `undefined` for those that it loses. */
type Fields = Record<string, unknown>;

export interface Change {
  /** The update that makes the change in one statement, its paths from the entity. */
  readonly update: Update;
  /** The condition on the entity, cast. */
  readonly condition?: Filter | undefined;
  /** A further condition of the statement; `null` where there is no statement for the change. */
  readonly onlyIf?: Filter | null;
  /** Makes the change in a copy of what is stored, where one statement cannot; `undefined` writes nothing. */
  readonly apply: (entity: StoredObject) => Promise<Fields | undefined> | Fields | undefined;
  readonly session?: ClientSession | undefined;
}

/**
 * Changes an entity if all that leads to it is there and in its scope, and stays in it: by one statement, unless a scope
 * reads what changes or the stored values need another change. `false` if nothing was written.
 */
export async function changePlace(
  { steps, ...root }: Place,
  change: Change,
): Promise<boolean> {
  const { update, condition = {}, onlyIf = {}, session } = change;
  const fields = [...new Set(writtenPaths(update).map(topOf))];
  // An empty change counts the version only.
  const place = { ...root, steps: fields.length > 0 ? steps : steps.map(withoutStamp) };
  const where = everyFilter(condition, onlyIf ?? {});
  if (onlyIf !== null && isExpressible(where) && keepsScopes(place, fields)) {
    if (await send(place, { update: fromRoot(update, place), where, session })) return true;
  }
  const [step] = steps;
  const written = step === undefined ? fields : [step.property];
  const run = async () => {
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      const isWritten = await tryChecked(place, { ...change, written });
      if (isWritten !== undefined) return isWritten;
    }
    return false;
  };
  // A transaction has its turn already.
  if (session !== undefined) return await run();
  return await takeTurns(turnAt(place), run);
}

function withoutStamp({ stamp: _stamp, ...step }: Step): Step {
  return step;
}

/** Gives an update of an entity with paths from the root, and the time for every object around the change. */
function fromRoot(update: Update, place: Place): Update {
  const moved: Record<string, Fields> = {};
  for (const [operator, paths] of Object.entries(update)) {
    const entries = Object.entries(paths).map(([path, value]) => [pathIn(place, path), value]);
    moved[operator] = Object.fromEntries(entries);
  }
  const written = writtenPaths(moved);
  const stamps = place.steps.flatMap(({ stamp }, index) => {
    if (stamp === undefined) return [];
    const path = pathIn({ ...place, steps: place.steps.slice(0, index + 1) }, stamp);
    return written.includes(path) ? [] : [[path, new Date()]];
  });
  if (stamps.length === 0) return moved;
  return { ...moved, $set: { ...Object.fromEntries(stamps), ...moved.$set } };
}

/**
 * Changes a copy of the document that was read, has the database match it with the scopes, and writes only if nothing that
 * was read has changed meanwhile; `undefined` if another write was faster.
 */
async function tryChecked(
  place: Place,
  { condition = {}, apply, session, written }: Change & { readonly written: readonly string[] },
): Promise<boolean | undefined> {
  const { model, id, scope, version, timeBudget } = place;
  const read = fieldsRead(scope);
  // The fields of the scope, and those that are written; or else the whole document.
  const fields = read && [...new Set(["_id", ...read, ...written])];
  const project = fields && { $project: Object.fromEntries(fields.map((field) => [field, 1])) };
  const stages = [
    { $match: everyFilter({ _id: id }, scope, version) },
    ...project ? [project] : [],
  ];
  const maxTimeMS = Math.max(1, Math.ceil(timeBudget.left));
  const options = { ...AS_STORED, maxTimeMS, ...session && { session } };
  const [root] = await model.collection.aggregate(stages, options).toArray() as StoredObject[];
  if (root === undefined) return false;
  const isThere = async (document: StoredObject, last: readonly PipelineStage[]) => {
    const given = { document, stages: [...stagesTo(place), ...last], maxTimeMS };
    return (await aggregateDocument(model, given)).length > 0;
  };
  if (!await isThere(root, [{ $match: condition }])) return false;
  const changed = copyJson(root) as StoredObject;
  const entity = entityIn(changed, place.steps);
  const values = entity && await apply(entity);
  if (entity === undefined || values === undefined) return false;
  setFields(entity, values);
  if (!await isThere(changed, [])) throw outOfReach();
  const update = updateTo(changed, written);
  const statement = { update, where: unchangedSince(root, fields), session };
  return await send({ ...place, steps: [] }, { ...statement, isChecked: true }) || undefined;
}

/** Follows steps into a copy of a document; a single object that is stored where a list belongs becomes its only element. */
function entityIn(copy: StoredObject, steps: readonly Step[]): StoredObject | undefined {
  let at = copy;
  for (const { property, id, stamp } of steps) {
    let inner = at[property];
    if (id !== undefined) {
      const text = storedText(id);
      const list = at[property] = storedList(inner);
      inner = list.find((each) => isJsonObject(each) && storedText(each._id) === text);
    }
    if (!isJsonObject(inner)) return undefined;
    at = inner as StoredObject;
    if (stamp) at[stamp] = new Date();
  }
  return at;
}

/** Gives what is stored where a list belongs as a list: Mongoose too reads a single value as a list of one. */
export function storedList(value: unknown): readonly unknown[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}

function updateTo(changed: StoredObject, fields: readonly string[]): Update {
  const set = fields.filter((field) => changed[field] !== undefined);
  const unset = fields.filter((field) => changed[field] === undefined);
  return {
    ...set.length > 0 && { $set: Object.fromEntries(set.map((field) => [field, changed[field]])) },
    ...unset.length > 0 && { $unset: Object.fromEntries(unset.map((field) => [field, 1])) },
  };
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
  readonly document: StoredObject;
  readonly stages: readonly PipelineStage[];
  readonly maxTimeMS?: number;
}

export async function aggregateDocument(
  { db }: Model<unknown>,
  { document, stages, ...options }: DocumentStages,
): Promise<StoredObject[]> {
  const given = { connection: db as Connection, values: [document], stages };
  return await aggregateValues(given, { ...AS_STORED, ...options });
}

interface Statement {
  readonly update: Update;
  readonly where: Filter;
  readonly session: ClientSession | undefined;
  readonly isChecked?: boolean;
}

/**
 * Updates the document of a place in one statement, which repeats every identifier and every expressible scope on the way.
 * A version that is no whole number becomes 1 by another statement. `false` if a condition did not hold.
 */
async function send(
  place: Place,
  { update, where, session, isChecked = false }: Statement,
): Promise<boolean> {
  const { model, id, steps, timeBudget } = place;
  const key = versionKey(model);
  const arrayFilters = steps.flatMap(({ id }, index) =>
    id === undefined ? [] : [{ [`e${index}._id`]: id }]
  );
  const write = async (counted: Update, version: Filter) => {
    const options = { ...KEEP_CONDITIONS, arrayFilters, ...timeBudget.statement(session) };
    const query = model.updateOne({ _id: id }, counted as never, options as never);
    matchAsIs(query, everyFilter(conditionsOf(place, where), version));
    writeAsIs(query, counted);
    const { matchedCount } = await query.exec();
    // Where a connection keeps numbers in objects, they are no zeros.
    return Number(matchedCount) !== 0;
  };
  if (key === undefined) return await write(update, {});
  return await write({ ...update, $inc: { ...update.$inc, [key]: 1 } }, hasVersion(key)) ||
    isChecked && await write({ ...update, $set: { ...update.$set, [key]: 1 } }, hasNoVersion(key));
}
