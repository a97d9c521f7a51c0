import type { ClientSession, Connection, Model, PipelineStage, Types } from "mongoose";
import { takeTurns, type TransactionOptions } from "../../database/in_transaction.ts";
import type { TimeBudget } from "../../database/time_budget.ts";
import { writePastLock } from "../../database/write_past_lock.ts";
import { outOfReach, throwClash } from "../../errors/refusals.ts";
import {
  everyFilter,
  fieldsRead,
  hasOneOf,
  KEEP_CONDITIONS,
  moveFilter,
  topOf,
} from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { copyJson, isJsonObject } from "../../schema/fields/json.ts";
import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { matchAsIs, type Update, writeAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import { type StoredObject, storedText } from "../../write/stored_values.ts";
import {
  isExact,
  isObjectAt,
  sameAsStored,
  setFields,
  writtenPaths,
} from "../../write/update_conditions.ts";
import { aggregateDocument, AS_STORED } from "./aggregate_document.ts";

export interface PartSegment {
  readonly property: string;
  /** The identifier of the element, where the property is an array. */
  readonly id?: Types.ObjectId;
  /** The scope that binds the embedded object, cast. */
  readonly scope: Filter;
}

export interface PartPath {
  readonly model: Model<unknown>;
  readonly id: unknown;
  /** The scope of the document, cast. */
  readonly scope: Filter;
  /** The versions of the document that a write may change; all where it is missing. */
  readonly version?: Filter | undefined;
  readonly timeBudget: TimeBudget;
  readonly steps: readonly PartSegment[];
}

/** Names the document, on which transactions and checked writes of this process take turns. */
export function turnAt({ model, id, timeBudget }: PartPath): TransactionOptions {
  return {
    connection: model.db as Connection,
    turn: nameOf(model, id),
    isContended: true,
    timeBudget,
  };
}

function nameOf({ collection }: Model<unknown>, id: unknown): string {
  return `${collection.name}/${id}`;
}

export function stagesTo({ id: root, scope: outer, steps }: PartPath): PipelineStage[] {
  return [
    { $match: everyFilter({ _id: root }, outer) },
    ...steps.flatMap(({ property, id, scope }) => [
      ...intoStages(property, id !== undefined),
      { $match: everyFilter(id === undefined ? {} : { _id: id }, scope) },
    ]),
  ];
}

/** The condition on the document that a statement can express: the scopes on the way, and a condition on the entity. */
export function conditionsOf({ scope, version, steps }: PartPath, condition: Filter): Filter {
  const inside = steps.reduceRight((rest: Filter, { property, id, scope }) => {
    const bound = everyFilter(...[scope, rest].filter(isExpressible));
    return id === undefined
      ? insideOf(property, bound)
      : { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
  }, condition);
  return everyFilter(scope, version, inside);
}

export function insideOf(property: string, filter: Filter): Filter {
  return everyFilter(isObjectAt(property), moveFilter(filter, property));
}

/** Whether all scopes on the way can be conditions on the document, and a change of some fields changes nothing they read. */
export function keepsScopes(
  { model, scope, steps }: Pick<PartPath, "model" | "scope" | "steps">,
  fields: readonly string[],
): boolean {
  const { updatedAt } = stampFields(model.schema);
  const stamps = [updatedAt, versionKeyOf(model)];
  return [{ scope }, ...steps].every(({ scope }, index) => {
    const read = fieldsRead(scope);
    const inner = steps[index]?.property;
    const written = inner === undefined ? fields : [inner];
    const changed = index === 0 ? [...stamps, ...written] : written;
    return read !== undefined && !changed.some((field) => field && read.has(field));
  });
}

/** The stages that lead into a property: to each element of an array, or to the one object. */
export function intoStages(property: string, array: boolean): PipelineStage[] {
  const into = [{ $match: isObjectAt(property) }, {
    $replaceRoot: { newRoot: `$${property}` },
  }] as PipelineStage[];
  return array ? [{ $unwind: `$${property}` }, ...into] : into;
}

export function isExpressible(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}

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
  place: PartPath,
  change: Change,
): Promise<boolean> {
  const { update, condition = {}, onlyIf = {}, session } = change;
  const fields = [...new Set(writtenPaths(update).map(topOf))];
  const where = everyFilter(condition, onlyIf ?? {});
  if (onlyIf !== null && isExpressible(where) && keepsScopes(place, fields)) {
    if (await send(place, { update: fromRoot(update, place), where, session })) return true;
  }
  const [step] = place.steps;
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

/** Gives an update of an entity with paths from the root; the array filters `e0`, `e1`, … name elements. */
function fromRoot(update: Update, { steps }: PartPath): Update {
  const names = steps.map(({ property, id }, index) =>
    id === undefined ? property : `${property}.$[e${index}]`
  );
  const moved: Record<string, Fields> = {};
  for (const [operator, paths] of Object.entries(update)) {
    const entries = Object.entries(paths).map((
      [path, value],
    ) => [[...names, path].join("."), value]);
    moved[operator] = Object.fromEntries(entries);
  }
  return moved;
}

/**
 * Changes a copy of the document that was read, has the database match it with the scopes, and writes only if nothing that
 * was read has changed meanwhile; `undefined` if another write was faster.
 */
async function tryChecked(
  place: PartPath,
  { condition = {}, apply, session, written }: Change & { readonly written: readonly string[] },
): Promise<boolean | undefined> {
  const { model, id, scope, version, timeBudget } = place;
  const read = fieldsRead(scope);
  // The fields of the scope, and those that are written; or else the whole document.
  const key = versionKeyOf(model);
  const fields = read && [...new Set(["_id", ...read, ...written])];
  const shown = fields?.map((field) => [field, 1]) ?? [];
  const stages = [
    { $match: everyFilter({ _id: id }, scope, version) },
    ...fields ? [{ $project: { ...Object.fromEntries(shown), ...key && { [key]: 1 } } }] : [],
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
  const where = unchangedSince(root, { fields, key });
  return await send({ ...place, steps: [] }, { update, where, session }) || undefined;
}

/** Follows steps into a copy of a document; a single object that is stored where a list belongs becomes its only element. */
function entityIn(copy: StoredObject, steps: readonly PartSegment[]): StoredObject | undefined {
  let at = copy;
  for (const { property, id } of steps) {
    let inner = at[property];
    if (id !== undefined) {
      const text = storedText(id);
      const list = at[property] = storedList(inner);
      inner = list.find((each) => isJsonObject(each) && storedText(each._id) === text);
    }
    if (!isJsonObject(inner)) return undefined;
    at = inner as StoredObject;
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

function unchangedSince(
  root: StoredObject,
  { fields, key }: {
    readonly fields: readonly string[] | undefined;
    readonly key: string | undefined;
  },
): Filter {
  const all =
    fields?.map((field) =>
      Object.hasOwn(root, field)
        ? sameAsStored(`$${field}`, root[field])
        : { $eq: [{ $type: `$${field}` }, "missing"] }
    ) ?? [sameAsStored("$$ROOT", root)];
  const same = { $expr: { $and: all } };
  if (key === undefined || isExact(root)) return same;
  return { $or: [same, hasOneOf(key, [asVersion(root[key])])] };
}

interface Statement {
  readonly update: Update;
  readonly where: Filter;
  readonly session: ClientSession | undefined;
}

/**
 * Updates the document of a place in one statement, which repeats every identifier and every expressible scope on the way.
 * `false` if a condition did not hold.
 */
async function send(place: PartPath, { update, where, session }: Statement): Promise<boolean> {
  const { model, id, steps, timeBudget } = place;
  const key = versionKeyOf(model);
  const counted = key === undefined ? update : { ...update, $inc: { ...update.$inc, [key]: 1 } };
  const arrayFilters = steps.flatMap(({ id }, index) =>
    id === undefined ? [] : [{ [`e${index}._id`]: id }]
  );
  const write = (session?: ClientSession, mostMS?: number) => {
    const options = { ...KEEP_CONDITIONS, arrayFilters, ...timeBudget.statement(session, mostMS) };
    const query = model.updateOne({ _id: id }, counted as never, options as never);
    matchAsIs(query, conditionsOf(place, where));
    writeAsIs(query, counted);
    return query.exec();
  };
  const lock = { connection: model.db as Connection, name: () => nameOf(model, id), timeBudget };
  const sent = session === undefined ? writePastLock(lock, write) : write(session);
  const { matchedCount } = await sent.catch(throwClash);
  // Where a connection keeps numbers in objects, they are no zeros.
  return Number(matchedCount) !== 0;
}
