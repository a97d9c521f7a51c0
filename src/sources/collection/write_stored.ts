import type { ClientSession } from "mongoose";
import { inTransaction, turnsIn } from "../../database/in_transaction.ts";
import { writePastLock } from "../../database/write_past_lock.ts";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { BulkError } from "../../errors/bulk_error.ts";
import { mapPaced, TurnPacer } from "../../errors/event_loop.ts";
import { StoreFailure } from "../../errors/failure.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { insertAll } from "../../write/save_document.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { isKnownWithin } from "../../write/update_conditions.ts";
import { keepsScopes } from "../parts/part_path.ts";
import { whyDocuments } from "./plan_write.ts";
import type { Change, ItemResult, Unsent, Write, WriteResult } from "../source.ts";
import type { OpenCollection } from "./read_stored.ts";
import { modelSupport } from "./model_support.ts";
import { operatorsFor } from "../write_duties.ts";
import { lockOf, orRefused, stampingUpdate, store } from "./store_update.ts";
import { areValid, flatFields } from "./entity_maker.ts";

type Values = Record<string, unknown>;

/** Waits for asynchronous validators of the body. */
export async function planStatement(change: Change, collection: OpenCollection): Promise<Write> {
  const { model, shape, linked = false } = collection;
  const { inserts, updates, removes } = modelSupport(model, shape);
  const takes = { inserts: inserts !== undefined, updates, removes };
  const reason = whyDocuments(change, { ...collection, linked, takes });
  if (reason !== undefined) return { kind: "documents", reason };
  const send = await prepare(change, collection);
  return send === undefined ? { kind: "documents", reason: VALUES } : { kind: "statement", send };
}

const VALUES = "a value of the body needs a document, or a document tells what is wrong with it";

type Send = (unchanged?: Filter) => Promise<WriteResult | Unsent>;

/**
 * `undefined` if a value of the body needs a Mongoose document. Nothing is written before the returned function is
 * called.
 */
async function prepare(change: Change, collection: OpenCollection): Promise<Send | undefined> {
  switch (change.operation) {
    case "create":
      return await (change.bodies === undefined ? create : createMany)(change, collection);
    case "update":
      return await update(change, collection);
    case "updateAll":
      return await updateAll(change, collection);
    case "replace":
      return await replace(change, collection);
    default:
      return (unchanged = {}) => {
        const conditions = everyFilter(collection.conditions, unchanged);
        return remove({ ...collection, conditions });
      };
  }
}

async function create(
  { body = {}, claim, minimal = false }: Change,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, timeBudget, shape, together } = collection;
  const made = modelSupport(model, shape).inserts?.make(body, claim?.ids[0]);
  const entity = made && newWithin(made, collection);
  if (entity === undefined || !await areAllowed({ entity }, collection)) return undefined;
  return async () => {
    const insert = (session?: ClientSession, mostMS?: number) =>
      model.collection.insertOne(entity, timeBudget.statement(session, mostMS));
    const inserted: Promise<unknown> = together === undefined
      ? writePastLock(lockOf(collection, entity), insert)
      : inTransaction(
        { ...turnsIn(model), timeBudget, isRequired: true, part: claim },
        async (session) => {
          await insert(session);
          const entities = [{ id: entity._id, created: entity }];
          await together({ change: "create", entities, model }, session as ClientSession);
        },
      );
    await timeBudget.wait(inserted);
    const told = { created: String(entity._id), version: 0 };
    return minimal ? told : { ...told, text: toJson(entity, shape) };
  };
}

async function createMany(
  change: Change,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { bodies = [], isAtomic = true, claim } = change;
  const maker = modelSupport(collection.model, collection.shape).inserts;
  const entities: (Values | undefined)[] = [];
  const pacer = new TurnPacer();
  for (const [index, body] of bodies.entries()) {
    if (pacer.isDue) await pacer.rest();
    const made = body && maker?.make(body, claim?.ids[index]);
    const stamped = made && newWithin(made, collection);
    const entity = stamped && await areAllowed({ entity: stamped }, collection)
      ? stamped
      : undefined;
    if (entity === undefined && isAtomic) return undefined;
    entities.push(entity);
  }
  const send = isAtomic ? insertTogether : insertEach;
  return () => send(entities, { change, collection });
}

interface Insertion {
  readonly change: Change;
  readonly collection: OpenCollection;
}

/** Several entities are inserted in a transaction, because one insert could store a part of them. */
async function insertTogether(
  entities: readonly (Values | undefined)[],
  { change: { claim, minimal }, collection }: Insertion,
): Promise<WriteResult> {
  const { model, timeBudget, shape } = collection;
  const all = entities.filter((entity) => entity !== undefined);
  const insert = (session?: ClientSession, mostMS?: number) => {
    const options = { ...timeBudget.statement(session, mostMS), ordered: true };
    return insertAll(model, { all, options });
  };
  const together = { ...turnsIn(model), timeBudget, isRequired: true, part: claim };
  const inserted = all.length === 1
    ? writePastLock(lockOf(collection, all[0]), insert)
    : inTransaction(together, (session) => insert(session));
  await timeBudget.wait(inserted);
  if (minimal) return {};
  return { text: `[${(await mapPaced(all, (each) => toJson(each, shape))).join()}]` };
}

/** Each entity succeeds or fails separately. An entity that needs a Mongoose document has no result. */
async function insertEach(
  entities: readonly (Values | undefined)[],
  { collection: { model, timeBudget } }: Insertion,
): Promise<WriteResult> {
  const all = entities.filter((entity) => entity !== undefined);
  let errors: BulkError["errors"] = new Map();
  try {
    const options = { ...timeBudget.statement(), ordered: false };
    if (all.length > 0) await timeBudget.wait(insertAll(model, { all, options }));
  } catch (error) {
    if (!(error instanceof BulkError)) throw error;
    ({ errors } = error);
  }
  const results = new Map(all.map((entity, index): [Values, ItemResult] => {
    return [entity, errors.has(index) ? { error: errors.get(index) } : { _id: entity._id }];
  }));
  return { results: entities.map((entity) => entity && results.get(entity)) };
}

async function update(
  { body = {}, minimal }: Change,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, selection: { version }, name, conditions } = collection;
  const changes = changesBy(body, collection);
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const named = castFilter(model, everyFilter(name, conditions, version));
  return (unchanged = {}) => {
    const bound = everyFilter(named, unchanged);
    return store({ named: bound, update: updateBy(changes, collection), minimal }, collection);
  };
}

async function updateAll(
  { body = {}, limit = Infinity }: Change,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, selection: { version }, conditions, timeBudget } = collection;
  const changes = changesBy(body, collection);
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const named = castFilter(model, everyFilter(conditions, version)) as object;
  return () => {
    const update = updateBy(changes, collection);
    const upTo = Number.isFinite(limit) && { limit: limit + 1 };
    const transaction = { ...turnsIn(model), timeBudget, isRequired: true };
    let affected = 0;
    const work = inTransaction(transaction, async (session) => {
      const statement = timeBudget.statement(session);
      affected = await model.collection.countDocuments(named, { ...upTo, ...statement });
      if (affected > limit) throw new StoreFailure({ kind: "tooMany", limit });
      if (affected > 0) await model.collection.updateMany(named, update, statement);
    });
    return work.then(() => ({ affected }), orRefused);
  };
}

/** `undefined` if the update needs Mongoose documents. */
function changesBy(
  body: JsonObject,
  { model, shape, selection: { scope }, stamps }: OpenCollection,
): Values | undefined {
  const changes = flatFields(body, shape);
  // The update must not change a field that the scope reads, because the entity could leave its scope.
  const names = Object.keys({ ...changes, ...stamps?.(false) });
  const isKept = changes && keepsScopes({ model, scope, steps: [] }, names);
  return isKept ? changes : undefined;
}

function updateBy(changes: Values, { model, stamps }: OpenCollection): Update {
  return stampingUpdate({ ...changes, ...stamps?.(false) }, model);
}

/**
 * `undefined` if the entity may be outside of the scope. The database must check the scope, so a Mongoose document is
 * written.
 */
function newWithin(made: Values, collection: OpenCollection): Values | undefined {
  const { model, selection: { scope } } = collection;
  const entity = stampNew(made, collection);
  return isEmpty(scope) || isKnownWithin(entity, castFilter(model, scope)) ? entity : undefined;
}

function stampNew(entity: Values, { stamps }: OpenCollection): Values {
  return { ...entity, ...operatorsFor(stamps?.(true)).set };
}

async function replace(
  { body = {}, minimal }: Change,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, shape, selection: { version, scope }, name, by = "_id", stamps } = collection;
  const { inserts } = modelSupport(model, shape);
  const stamped = stamps && stampsOfReplacement(stamps);
  if (stamped === "unknown") return undefined;
  const made = inserts?.replacement(body, { by, _id: name?._id, ...stamped });
  if (made === undefined || !keepsScopes({ model, scope, steps: [] }, made.written)) {
    return undefined;
  }
  if (!await areAllowed(made, collection)) return undefined;
  // `replacement()` has cast the identifier, and versions are numbers, so Mongoose need not cast the filter.
  const named = everyFilter({ [by]: made.entity[by] }, version);
  return (unchanged) => {
    // An upsert copies the values of its conditions into a new entity, so a statement with further conditions is no
    // upsert.
    const upsert = version === undefined && unchanged === undefined;
    const conditions = castFilter(model, collection.conditions);
    const bound = everyFilter(named, conditions, unchanged ?? {});
    return store({ named: bound, update: made.stages, upsert, minimal }, collection);
  };
}

/**
 * `"unknown"` if a new entity cannot get its values. Mongoose documents then write the change, because they find out
 * first whether the entity exists.
 */
function stampsOfReplacement(
  stamps: NonNullable<OpenCollection["stamps"]>,
): { readonly added: Values; readonly changed: Values } | "unknown" {
  const changed = stamps(false);
  try {
    return { added: operatorsFor(stamps(true)).set, changed };
  } catch {
    return "unknown";
  }
}

async function remove(collection: OpenCollection): Promise<WriteResult | Unsent> {
  const { model, selection, name, conditions, timeBudget, removal: update } = collection;
  const named = everyFilter(name, conditions, selection.version);
  if (update !== undefined) {
    const change = "remove" as const;
    const statement = { named: castFilter(model, named), update, minimal: true, change };
    const stored = await store(statement, collection);
    return typeof stored === "string" ? stored : {};
  }
  const send = (session?: ClientSession, mostMS?: number) => {
    const options = { ...KEEP_CONDITIONS, ...timeBudget.statement(session, mostMS) };
    return withConditions(model.deleteOne({}, options), named).exec();
  };
  const removed = await timeBudget.wait(writePastLock(lockOf(collection), send));
  // With a write concern of 0, MongoDB reports no number of removed documents, so the removal counts as successful.
  return removed.deletedCount > 0 || !removed.acknowledged ? {} : "missed";
}

function areAllowed(
  { entity, changes = {} }: { readonly entity?: Values; readonly changes?: Values },
  { shape, timeBudget }: OpenCollection,
): MaybePromise<boolean> {
  const all = [...shape.fields];
  const fields = entity ? all : all.filter(([name]) => Object.hasOwn(changes, name));
  const valid = areValid(entity ?? changes, fields);
  return isPromise(valid) ? timeBudget.wait(valid) : valid;
}
