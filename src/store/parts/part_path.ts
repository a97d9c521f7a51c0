import type { ClientSession, Connection, Model, PipelineStage, Types } from "mongoose";
import { takeTurns, type TransactionOptions } from "../in_transaction.ts";
import type { TimeBudget } from "../time_budget.ts";
import { updateThrough } from "../writes/update.ts";
import { StoreFailure } from "../../errors/failure.ts";
import {
  everyFilter,
  fieldsRead,
  type Filter,
  isEmpty,
  KEEP_CONDITIONS,
  moveFilter,
} from "../../filter/filters.ts";
import { copyJson, isJsonObject } from "../../schema/fields/json.ts";
import { versionKeyOf } from "../../schema/fields/system_fields.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { matchAsIs, type Update, writeAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import { appliedFields } from "../writes/applied_fields.ts";
import {
  AS_STORED,
  operatorsFor,
  setFields,
  type Stamps,
  storedList,
  type StoredObject,
  storedText,
} from "../values.ts";
import { isObjectAt, throwChanged, unchangedSince } from "../writes/conditions.ts";
import {
  alwaysRead,
  BEFORE_WRITE,
  changedBy,
  projectionOfWrite,
  updatedFields,
} from "../writes/written_entity.ts";
import {
  type AddedStatements,
  type Sent,
  statementsForUpdate,
  transact,
  turnOf,
} from "../writes/transact.ts";
import { aggregateDocument } from "./aggregate_document.ts";
import { partProjection, type WrittenPart, writtenPart } from "./written_part.ts";

export interface PartSegment {
  readonly property: string;
  readonly id?: Types.ObjectId;
  /** Already cast. */
  readonly scope: Filter;
  /** Values to store too if a field of the embedded object changes, such as a time. */
  readonly stamps?: () => Stamps;
}

export interface PartPath {
  readonly model: Model<unknown>;
  readonly id: unknown;
  /** Already cast. */
  readonly scope: Filter;
  readonly version?: Filter | undefined;
  readonly unchanged?: Filter | undefined;
  readonly timeBudget: TimeBudget;
  readonly steps: readonly PartSegment[];
  readonly stamps?: Stamps | undefined;
  readonly addedStatements?: AddedStatements | undefined;
}

export function turnAt({ model, id, timeBudget }: PartPath): TransactionOptions {
  return {
    connection: model.db as Connection,
    turn: turnOf(model, id),
    isContended: true,
    timeBudget,
  };
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

/** Leaves out scopes that conditions cannot express, which {@linkcode changePlace} checks on a copy of the document. */
export function conditionsOf({ scope, version, unchanged, steps }: PartPath, part: Filter): Filter {
  const inside = steps.reduceRight((rest: Filter, { property, id, scope }) => {
    const bound = everyFilter(...[scope, rest].filter(isExpressible));
    return id === undefined
      ? insideOf(property, bound)
      : { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
  }, part);
  return everyFilter(scope, version, unchanged, inside);
}

export function insideOf(property: string, filter: Filter): Filter {
  return everyFilter(isObjectAt(property), moveFilter(filter, property));
}

/**
 * If no scope on the path reads a changed field, the change needs no check. A scope with `$expr` may read all fields.
 */
export function keepsScopes(
  { model, scope, steps, stamps = {} }: Pick<PartPath, "model" | "scope" | "steps" | "stamps">,
  fields: readonly string[],
): boolean {
  const { updatedAt } = stampFields(model.schema);
  const always = [updatedAt, versionKeyOf(model), ...Object.keys(stamps)];
  return [{ scope }, ...steps].every(({ scope }, index) => {
    const read = fieldsRead(scope);
    const inner = steps[index]?.property;
    const written = inner === undefined ? fields : [inner];
    const changed = index === 0 ? [...always, ...written] : written;
    return read !== undefined && !changed.some((field) => field && read.has(field));
  });
}

export function intoStages(property: string, array: boolean): PipelineStage[] {
  const into = [{ $match: isObjectAt(property) }, {
    $replaceRoot: { newRoot: `$${property}` },
  }] as PipelineStage[];
  return array ? [{ $unwind: `$${property}` }, ...into] : into;
}

export function isExpressible(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}

const MAX_ATTEMPTS = 20;

type Fields = Record<string, unknown>;

export interface PartChange {
  readonly update: Update;
  readonly condition?: Filter | undefined;
  /** Under this condition, `update` alone is correct. If `null` or not met, `apply` changes the read document. */
  readonly onlyIf?: Filter | null;
  /** Gets a copy of the stored entity. The result `undefined` prevents the change. */
  readonly apply?: (entity: StoredObject) => Promise<Fields | undefined> | Fields | undefined;
  readonly session?: ClientSession | undefined;
  readonly reads?: "version" | "part" | undefined;
}

/**
 * All objects on the path must be in their scopes before and after the change. If one statement cannot check this, a
 * changed copy is checked, and written if the document is unchanged.
 */
export async function changePlace(
  place: PartPath,
  change: PartChange,
): Promise<WrittenPart | undefined> {
  const { model, id, timeBudget } = place;
  const addedStatements = statementsForUpdate(place.addedStatements, fieldsOfRoot(place, change));
  if (addedStatements === undefined) return await changeAlone(place, change);
  const { session: own } = change;
  const all = { model, id, timeBudget, addedStatements, session: own, isContended: true };
  const { part } = await transact(
    { ...all, change: "update" },
    ({ session }) => changeRecorded(place, { ...change, session }),
  );
  return part;
}

interface Recorded extends Sent {
  readonly part: WrittenPart | undefined;
}

async function changeRecorded(place: PartPath, change: PartChange): Promise<Recorded> {
  const { model, id, scope, steps, stamps } = place;
  const { session } = change;
  const { updatedAt } = stampFields(model.schema);
  const renewed = typeof updatedAt === "string" ? [updatedAt] : [];
  const read = [...fieldsOfRoot(place, change), ...renewed, ...alwaysRead(model)];
  const options = {
    ...BEFORE_WRITE,
    projection: projectionOfWrite([], read),
    ...session && { session },
  };
  const named = everyFilter({ _id: id }, scope);
  const before = await model.collection.findOne(named, options) ?? {};
  const part = await changeAlone(place, change);
  if (part === undefined) return { part };
  const isChanged =
    changedBy(change.update, entityIn(copyJson(before) as StoredObject, steps) ?? {}).length > 0;
  const own = isChanged ? fieldsOfRoot({ steps }, change) : [];
  const stamped = changedBy(withValues({}, stamps), before);
  return { part, written: [{ id, before, changed: [...own, ...stamped, ...renewed] }] };
}

function fieldsOfRoot(
  { steps: [step], stamps = {} }: Pick<PartPath, "steps" | "stamps">,
  { update }: PartChange,
): string[] {
  const own = step === undefined ? updatedFields(update) : [step.property];
  return [...new Set([...own, ...Object.keys(stamps)])];
}

async function changeAlone(place: PartPath, change: PartChange): Promise<WrittenPart | undefined> {
  const { update, condition = {}, onlyIf = {}, session, reads } = change;
  const fields = updatedFields(update);
  const where = everyFilter(condition, onlyIf ?? {});
  if (onlyIf !== null && isExpressible(where) && keepsScopes(place, fields)) {
    const whole = withValues(fromRoot(update, place), place.stamps);
    const written = await send(place, { update: whole, where, session, reads });
    if (written !== undefined) return written;
  }
  const fieldsWritten = fieldsOfRoot(place, change);
  const run = async () => {
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      const written = await tryChecked(place, { ...change, written: fieldsWritten });
      if (written !== "changed") return written;
    }
    return undefined;
  };
  if (session !== undefined) return await run();
  return await takeTurns(turnAt(place), run);
}

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

export function withValues(update: Update, values: Stamps | undefined): Update {
  const { set, unset } = operatorsFor(values);
  return {
    ...update,
    ...!isEmpty(set) && { $set: { ...update.$set, ...set } },
    ...!isEmpty(unset) && { $unset: { ...update.$unset, ...unset } },
  };
}

async function tryChecked(
  place: PartPath,
  { update, condition = {}, apply = (entity) => appliedFields(entity, update), ...sent }:
    & PartChange
    & {
      readonly written: readonly string[];
    },
): Promise<WrittenPart | "changed" | undefined> {
  const { model, id, scope, version, unchanged, timeBudget } = place;
  const { session, written, reads } = sent;
  const read = fieldsRead(scope);
  const key = versionKeyOf(model);
  const fields = read && [...new Set(["_id", ...read, ...written])];
  const shown = fields?.map((field) => [field, 1]) ?? [];
  const stages = [
    { $match: everyFilter({ _id: id }, scope, version, unchanged) },
    ...fields ? [{ $project: { ...Object.fromEntries(shown), ...key && { [key]: 1 } } }] : [],
  ];
  const maxTimeMS = Math.max(1, Math.ceil(timeBudget.left));
  const options = { ...AS_STORED, maxTimeMS, ...session && { session } };
  const [root] = await model.collection.aggregate(stages, options).toArray() as StoredObject[];
  if (root === undefined) return undefined;
  const isThere = async (document: StoredObject, last: readonly PipelineStage[]) => {
    const given = { document, stages: [...stagesTo(place), ...last], maxTimeMS };
    return (await aggregateDocument(model, given)).length > 0;
  };
  if (!await isThere(root, [{ $match: condition }])) return undefined;
  const changed = copyJson(root) as StoredObject;
  const entity = entityIn(changed, place.steps);
  const values = entity && await apply(entity);
  if (entity === undefined || values === undefined) return undefined;
  setFields(changed, place.stamps ?? {});
  setFields(entity, values);
  if (!await isThere(changed, [])) throw new StoreFailure({ kind: "outOfScope" });
  const where = unchangedSince(root, { fields, key });
  const statement = {
    update: updateTo(changed, written),
    where,
    session,
    reads,
    shown: place.steps,
  };
  return await send({ ...place, steps: [] }, statement) ?? "changed";
}

function updateTo(changed: StoredObject, fields: readonly string[]): Update {
  return withValues({}, Object.fromEntries(fields.map((field) => [field, changed[field]])));
}

interface Statement {
  readonly update: Update;
  readonly where: Filter;
  readonly session: ClientSession | undefined;
  readonly reads: PartChange["reads"];
  readonly shown?: readonly PartSegment[];
}

async function send(
  place: PartPath,
  { update, where, session, reads, shown = place.steps }: Statement,
): Promise<WrittenPart | undefined> {
  const { model, id, steps, timeBudget } = place;
  const key = versionKeyOf(model);
  const counted = key === undefined ? update : { ...update, $inc: { ...update.$inc, [key]: 1 } };
  const arrayFilters = steps.flatMap(({ id }, index) =>
    id === undefined ? [] : [{ [`e${index}._id`]: id }]
  );
  // An update that returns values needs the whole shard key, which is unknown here.
  const isRead = reads !== undefined && !isSharded(model);
  const projection = isRead ? partProjection(key, reads === "part" ? shown : []) : undefined;
  // Middleware gets the session too, so that its own statements can join the transaction.
  const options = { ...KEEP_CONDITIONS, arrayFilters, ...session && { session } };
  const query = model.updateOne({ _id: id }, counted as never, options as never);
  matchAsIs(query, conditionsOf(place, where));
  writeAsIs(query, counted);
  const sent = updateThrough(query as never, { model, timeBudget, session, id, projection });
  const { isMet, after = {} } = await sent.catch(throwChanged);
  return isMet ? writtenPart(after, key) : undefined;
}

function isSharded({ schema }: Model<unknown>): boolean {
  return Boolean(schema.get("shardKey" as never));
}

/** A single object stored in place of a list becomes its only element. */
function entityIn(
  copy: StoredObject,
  steps: readonly PartSegment[],
): StoredObject | undefined {
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
