import mongoose from "mongoose";
import type { ClientSession, Model } from "mongoose";
import { inTransaction, turnsIn } from "../../database/in_transaction.ts";
import { type LockOptions, writePastLock } from "../../database/write_past_lock.ts";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { mapPaced, TurnPacer } from "../../errors/event_loop.ts";
import { tooMany } from "../../errors/refusals.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, isCountable, isEmpty, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { showsInPart } from "../../filter/projection.ts";
import { toJson } from "../../json/to_json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { isSetOnce } from "../../schema/fields/visibility.ts";
import { insertAll } from "../../write/save_document.ts";
import { storedText } from "../../write/stored_values.ts";
import { keepsScopes } from "../parts/place.ts";
import type { DirectCall, DirectResult, ItemResult } from "../source.ts";
import type { OpenCollection } from "./read_stored.ts";
import { directSupport } from "./direct_support.ts";
import { areValid, type EntityMaker, flatFields, timeStamps } from "./entity_maker.ts";

type Values = Record<string, unknown>;

/**
 * Writes without documents. Returns `null` if the write selects no entity. Returns `undefined` if the write may need
 * documents.
 */
export async function writeDirect(
  call: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | null | undefined> {
  // With this option of Mongoose, only writes by Mongoose take part in the transaction around a request.
  if (call.operation !== "remove" && mongoose.get("transactionAsyncLocalStorage")) return undefined;
  switch (call.operation) {
    case "create":
      return await (call.bodies === undefined ? create : createMany)(call, collection);
    case "update":
      return await update(call, collection);
    case "updateAll":
      return await updateAll(call, collection);
    case "replace":
      return await replace(call, collection);
    case "remove":
      return await remove(collection);
  }
}

async function create(
  { body = {}, reserved = [], minimal = false }: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | undefined> {
  const { model, timeBudget, shape } = collection;
  const entity = makerOf(collection, minimal)?.make(body, reserved[0]);
  if (entity === undefined || !await areAllowed({ entity }, collection)) return undefined;
  const insert = (session?: ClientSession, mostMS?: number) =>
    model.collection.insertOne(entity, timeBudget.statement(session, mostMS));
  await timeBudget.wait(writePastLock(lockOf(collection, entity), insert));
  const made = { created: String(entity._id), version: 0 };
  return minimal ? made : { ...made, text: toJson(entity, shape) };
}

async function createMany(
  { bodies = [], isAtomic = true, reserved = [], minimal, key }: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | undefined> {
  const { model, timeBudget, shape } = collection;
  const maker = makerOf(collection, !isAtomic || minimal);
  if (maker === undefined) return undefined;
  const entities: (Values | undefined)[] = [];
  const pacer = new TurnPacer();
  for (const [index, body] of bodies.entries()) {
    if (pacer.isDue) await pacer.rest();
    const made = maker.make(body, reserved[index]);
    const entity = made && await areAllowed({ entity: made }, collection) ? made : undefined;
    if (entity === undefined && isAtomic) return undefined;
    entities.push(entity);
  }
  const all = entities.filter((entity) => entity !== undefined);
  const insert = (session?: ClientSession) => {
    const options = { ...timeBudget.statement(session), ordered: isAtomic };
    return insertAll(model, { all, options });
  };
  if (isAtomic) {
    const together = { ...turnsIn(model), timeBudget, isRequired: true, key };
    await timeBudget.wait(all.length === 1 ? insert() : inTransaction(together, insert));
    if (minimal) return {};
    return { text: `[${(await mapPaced(all, (each) => toJson(each, shape))).join()}]` };
  }
  let errors: BulkError["errors"] = new Map();
  try {
    if (all.length > 0) await timeBudget.wait(insert());
  } catch (error) {
    if (!(error instanceof BulkError)) throw error;
    ({ errors } = error);
  }
  const results = new Map(all.map((entity, index): [Values, ItemResult] => {
    return [entity, errors.has(index) ? { error: errors.get(index) } : { _id: entity._id }];
  }));
  return { results: entities.map((entity) => entity && results.get(entity)) };
}

/**
 * Returns the maker of new entities. Returns `undefined` if documents have to write the entities, or if the answer
 * shows only a part of an entity. With `isUnseen`, the answer shows no entity.
 */
function makerOf(collection: OpenCollection, isUnseen = false): EntityMaker | undefined {
  const { model, shape, selection: { scope, options }, linked = false } = collection;
  const isShown = isUnseen ? isEmpty(options) : showsWhole(collection);
  const isDirect = !linked && isEmpty(scope) && isShown;
  return isDirect ? directSupport(model, shape).inserts : undefined;
}

async function update(
  { body = {}, minimal }: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | null | undefined> {
  const { model, shape, selection: { version }, name, conditions } = collection;
  const isDirect = showsWhole(collection) && !setsArray(body, shape);
  const changes = isDirect ? changesBy(body, collection) : undefined;
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const named = castFilter(model, everyFilter(name, conditions, version));
  return await store({ named, update: updateBy(changes, model), minimal }, collection);
}

async function updateAll(
  { body = {}, limit = Infinity }: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | undefined> {
  const { model, selection: { options, version }, conditions, timeBudget } = collection;
  const isDirect = isEmpty(options) && isCountable(conditions);
  const changes = isDirect ? changesBy(body, collection) : undefined;
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const named = castFilter(model, everyFilter(conditions, version)) as object;
  const update = updateBy(changes, model) as object;
  const upTo = Number.isFinite(limit) && { limit: limit + 1 };
  const transaction = { ...turnsIn(model), timeBudget, isRequired: true };
  let affected = 0;
  const work = inTransaction(transaction, async (session) => {
    const statement = timeBudget.statement(session);
    affected = await model.collection.countDocuments(named, { ...upTo, ...statement });
    if (affected > limit) throw tooMany(limit);
    if (affected > 0) await model.collection.updateMany(named, update, statement);
  });
  return await work.then(() => ({ affected }), orDocument);
}

/**
 * Returns the cast values of a flat body, which one statement can set. Returns `undefined` if the update needs
 * documents.
 */
function changesBy(
  body: JsonObject,
  { model, shape, selection: { scope } }: OpenCollection,
): Values | undefined {
  if (!directSupport(model, shape).updates || setsImmutable(body, shape)) return undefined;
  const changes = flatFields(body, shape);
  // The update changes no field that the scope compares, so that an entity in the scope stays in the scope.
  const isKept = changes && keepsScopes({ model, scope, steps: [] }, Object.keys(changes));
  return isKept ? changes : undefined;
}

function updateBy(changes: Values, model: Model<unknown>): object {
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  return { ...!isEmpty(set) && { $set: set }, $inc: { [keyOf(model)]: 1 } };
}

async function replace(
  { body = {}, minimal }: DirectCall,
  collection: OpenCollection,
): Promise<DirectResult | null | undefined> {
  const { model, shape, selection: { version }, name, conditions, by = "_id" } = collection;
  // An upsert would store the values of other conditions in a new entity.
  const isDirect = showsWhole(collection) && isEmpty(conditions);
  const { inserts } = directSupport(model, shape);
  const made = isDirect ? inserts?.replacement(body, { by, _id: name?._id }) : undefined;
  if (made === undefined || !await areAllowed(made, collection)) return undefined;
  // The key and the version are cast already.
  const named = everyFilter({ [by]: made.entity[by] }, version);
  const upsert = version === undefined;
  return await store({ named, update: made.stages, upsert, minimal }, collection);
}

interface Statement {
  /** The conditions that select the entity, already cast. */
  readonly named: Filter;
  readonly update: object;
  readonly upsert?: boolean;
  readonly minimal: boolean | undefined;
}

async function store(
  { named, update, upsert = false, minimal = false }: Statement,
  collection: OpenCollection,
): Promise<DirectResult | null | undefined> {
  const { model, shape, timeBudget } = collection;
  const key = keyOf(model);
  const projection = minimal ? { [key]: 1 } : shape.withoutApart;
  // With `raw: true`, the driver would return error replies as bytes too, and would not notice that another server has
  // become the primary. The option here overrides the option of the connection.
  const send = (session?: ClientSession, mostMS?: number) =>
    model.collection.findOneAndUpdate(named, update, {
      ...timeBudget.statement(session, mostMS),
      ...!isEmpty(projection) && { projection },
      upsert,
      returnDocument: "after",
      enableUtf8Validation: false,
      raw: false,
    });
  const sent = writePastLock(lockOf(collection), send);
  const stored = await timeBudget.wait(sent).catch(orDocument);
  if (stored === null || stored === undefined) return stored;
  const version = asVersion(stored[key]);
  const told = { version, ...version === 0 && { created: String(stored._id) } };
  if (minimal) return told;
  const { reads } = directSupport(model, shape);
  const text = reads?.reader.writerFor({ projection: {} }).text(stored);
  return { text: text ?? toJson(model.hydrate(stored), shape), ...told };
}

async function remove(collection: OpenCollection): Promise<DirectResult | null | undefined> {
  const { model, shape, selection, name, conditions, timeBudget, linked = false } = collection;
  const isDirect = directSupport(model, shape).removes && isEmpty(selection.options) && !linked;
  if (!isDirect) return undefined;
  const named = everyFilter(name, conditions, selection.version);
  const send = (session?: ClientSession, mostMS?: number) => {
    const options = { ...KEEP_CONDITIONS, ...timeBudget.statement(session, mostMS) };
    return withConditions(model.deleteOne({}, options), named).exec();
  };
  const removed = await timeBudget.wait(writePastLock(lockOf(collection), send));
  // With a write concern of 0, MongoDB does not report the number of removed documents.
  return removed.deletedCount > 0 || !removed.acknowledged ? {} : null;
}

/**
 * Returns the lock options of a statement that writes one entity. Writes of the same entity have the same lock name.
 */
function lockOf({ model, name, timeBudget }: OpenCollection, { _id }: Values = {}): LockOptions {
  const { connection, turn } = turnsIn(model);
  return { connection, name: () => `${turn}/${storedText(_id ?? name)}`, timeBudget };
}

/** Whether the values of an entity, or of its changed fields, pass the validators of their fields. */
function areAllowed(
  { entity, changes = {} }: { readonly entity?: Values; readonly changes?: Values },
  { shape, timeBudget }: OpenCollection,
): MaybePromise<boolean> {
  const all = [...shape.fields];
  const fields = entity ? all : all.filter(([name]) => Object.hasOwn(changes, name));
  const valid = areValid(entity ?? changes, fields);
  return isPromise(valid) ? timeBudget.wait(valid) : valid;
}

/** Whether hooks have set no query options, and the answer of a write shows the whole entity. */
function showsWhole({ selection, shape }: OpenCollection): boolean {
  return isEmpty(selection.options) && !showsInPart({ selection, shape });
}

/**
 * Whether a body sets an array. Such an update needs a read first, which detects changes of the array by other
 * requests.
 */
function setsArray(body: JsonObject, { fields }: OpenCollection["shape"]): boolean {
  return Object.keys(body).some((name) => fields.get(name)?.kind === "array");
}

/**
 * Whether a body sets an immutable field. Only an update through a document leaves the stored value of such a field
 * unchanged.
 */
function setsImmutable(body: JsonObject, { fields }: OpenCollection["shape"]): boolean {
  return Object.keys(body).some((name) => {
    const field = fields.get(name);
    return field?.writable === true && isSetOnce(field);
  });
}

function keyOf({ schema }: Model<unknown>): string {
  return String(schema.get("versionKey"));
}

/**
 * The server's error codes for a version that is not a number, for a value that breaks a rule of the collection, and
 * for a duplicate of a unique value.
 */
const REFUSALS = new Set<unknown>([2, 14, 121, 11000, 16554]);

/**
 * Returns `undefined` if the database refuses the data, so that the pipeline repeats the write with a document and
 * answers with the problem that Mongoose finds. Throws any other error again.
 */
function orDocument(error: unknown): undefined {
  if (error instanceof mongoose.mongo.MongoServerError && REFUSALS.has(error.code)) return;
  throw error;
}
