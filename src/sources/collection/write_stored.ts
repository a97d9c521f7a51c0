import { isDeepStrictEqual } from "node:util";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { mapPaced, TurnPacer } from "../../errors/event_loop.ts";
import { isFailure } from "../../errors/failure.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter, isEmpty } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { insertMany, insertOne } from "../../store/writes/insert.ts";
import { insertEach } from "../../store/writes/insert_each.ts";
import { removeOne } from "../../store/writes/remove.ts";
import { updateUpTo } from "../../store/writes/where.ts";
import { isKnownWithin } from "../../store/writes/conditions.ts";
import { keepsScopes } from "../../store/parts/part_path.ts";
import { whyDocuments } from "./plan_write.ts";
import type { ItemResult, PlannedWrite, StatementResult, Unsent, WriteCommand } from "../source.ts";
import type { OpenCollection } from "./read_stored.ts";
import { modelSupport } from "./model_support.ts";
import { operatorsFor } from "../../store/values.ts";
import { orRefused, stampingUpdate, store } from "./store_update.ts";
import { areValid, flatFields } from "./entity_maker.ts";

type Values = Record<string, unknown>;

export async function planStatement(
  change: WriteCommand,
  collection: OpenCollection,
): Promise<PlannedWrite> {
  const { model, shape, linked = false } = collection;
  const { inserts, updates, removes } = modelSupport(model, shape);
  const takes = { inserts: inserts !== undefined, updates, removes };
  const reason = whyDocuments(change, { ...collection, linked, takes });
  if (reason !== undefined) return { kind: "documents", reason };
  const send = await prepare(change, collection);
  return send === undefined ? { kind: "documents", reason: VALUES } : { kind: "statement", send };
}

const VALUES = "a value of the body needs a document, or a document tells what is wrong with it";

type Send = (unchanged?: Filter) => Promise<StatementResult | Unsent>;

async function prepare(
  change: WriteCommand,
  collection: OpenCollection,
): Promise<Send | undefined> {
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
  { body = {}, claim, minimal = false }: WriteCommand,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, timeBudget, shape, addedStatements } = collection;
  const made = modelSupport(model, shape).inserts?.make(body, claim?.ids[0]);
  const entity = made && newWithin(made, collection);
  if (entity === undefined || !await areAllowed({ entity }, collection)) return undefined;
  return async () => {
    await timeBudget.wait(insertOne({ model, timeBudget, addedStatements, part: claim }, entity));
    const facts = { created: String(entity._id), version: 0 };
    return minimal ? facts : { ...facts, text: toJson(entity, shape) };
  };
}

async function createMany(
  change: WriteCommand,
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
  const send = isAtomic ? insertAtomically : sendEach;
  return () => send(entities, { change, collection });
}

interface Insertion {
  readonly change: WriteCommand;
  readonly collection: OpenCollection;
}

async function insertAtomically(
  entities: readonly (Values | undefined)[],
  { change: { claim, minimal }, collection: { model, timeBudget, shape } }: Insertion,
): Promise<StatementResult> {
  const all = entities.filter((entity) => entity !== undefined);
  await timeBudget.wait(insertMany({ model, timeBudget, part: claim }, all));
  if (minimal) return {};
  return { text: `[${(await mapPaced(all, (each) => toJson(each, shape))).join()}]` };
}

/** The caller saves `undefined` entities as Mongoose documents, so they get no result here. */
async function sendEach(
  entities: readonly (Values | undefined)[],
  { collection: { model, timeBudget } }: Insertion,
): Promise<StatementResult> {
  const all = entities.filter((entity) => entity !== undefined);
  const errors = await timeBudget.wait(insertEach({ model, timeBudget }, all));
  const results = new Map(all.map((entity, index): [Values, ItemResult] => {
    return [entity, errors.has(index) ? { error: errors.get(index) } : { _id: entity._id }];
  }));
  return { results: entities.map((entity) => entity && results.get(entity)) };
}

async function update(
  { body = {}, minimal }: WriteCommand,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, selection: { version }, name, conditions } = collection;
  const changes = changesBy(body, collection);
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const named = castFilter(model, everyFilter(name, conditions, version));
  return (unchanged = {}) => {
    const bound = everyFilter(named, unchanged);
    const command = { filter: bound, update: updateBy(changes, collection) };
    return store(command, { ...collection, minimal });
  };
}

async function updateAll(
  { body = {}, limit = Infinity }: WriteCommand,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, selection: { version }, conditions, timeBudget } = collection;
  const changes = changesBy(body, collection);
  if (changes === undefined || !await areAllowed({ changes }, collection)) return undefined;
  const filter = castFilter(model, everyFilter(conditions, version));
  return () => {
    const command = { filter, update: updateBy(changes, collection), most: limit };
    const sent = updateUpTo({ model, timeBudget }, command);
    return timeBudget.wait(sent).then((affected) => ({ affected }), orRefused);
  };
}

function changesBy(
  body: JsonObject,
  { model, shape, selection: { scope }, stamps }: OpenCollection,
): Values | undefined {
  const changes = flatFields(body, shape);
  // A change of a field that the scope reads could move the entity out of its scope, so documents check it.
  const names = Object.keys({ ...changes, ...stamps?.(false) });
  const staysInScope = changes && keepsScopes({ model, scope, steps: [] }, names);
  return staysInScope ? changes : undefined;
}

function updateBy(changes: Values, { model, stamps }: OpenCollection): Update {
  return stampingUpdate({ ...changes, ...stamps?.(false) }, model);
}

/** `undefined` if only the database can check the scope. */
function newWithin(made: Values, collection: OpenCollection): Values | undefined {
  const { model, selection: { scope } } = collection;
  const entity = stampNew(made, collection);
  return isEmpty(scope) || isKnownWithin(entity, castFilter(model, scope)) ? entity : undefined;
}

function stampNew(entity: Values, { stamps }: OpenCollection): Values {
  return { ...entity, ...operatorsFor(stamps?.(true)).set };
}

async function replace(
  { body = {}, minimal }: WriteCommand,
  collection: OpenCollection,
): Promise<Send | undefined> {
  const { model, shape, selection: { version, scope }, name, by = "_id", stamps } = collection;
  const { inserts } = modelSupport(model, shape);
  const stamped = stamps && stampsOfReplacement(stamps, shape);
  if (stamped === "unknown") return undefined;
  const made = inserts?.replacement(body, { by, _id: name?._id, ...stamped });
  if (made === undefined || !keepsScopes({ model, scope, steps: [] }, made.written)) {
    return undefined;
  }
  if (!await areAllowed(made, collection)) return undefined;
  // Both are cast already: `replacement()` has cast the identifier, and versions are numbers.
  const named = everyFilter({ [by]: made.entity[by] }, version);
  return (unchanged) => {
    // An upsert would copy further conditions into a new entity.
    const upsert = version === undefined && unchanged === undefined;
    const conditions = castFilter(model, collection.conditions);
    const bound = everyFilter(named, conditions, unchanged ?? {});
    const command = { filter: bound, update: made.stages, options: { upsert } };
    return store(command, { ...collection, minimal });
  };
}

/** `"unknown"` if a new entity gets other values or none. Mongoose documents then find out whether the entity exists. */
function stampsOfReplacement(
  stamps: NonNullable<OpenCollection["stamps"]>,
  { fields }: Shape,
): { readonly added: Values; readonly changed: Values } | "unknown" {
  const changed = stamps(false);
  try {
    const added = stamps(true);
    // The statement sets these fields in an entity that exists, too.
    const names = Object.keys({ ...added, ...changed })
      .filter((name) => Object.hasOwn(changed, name) || fields.get(name)?.writable);
    const isSame = names.every((name) => isDeepStrictEqual(added[name], changed[name]));
    return isSame ? { added: operatorsFor(added).set, changed } : "unknown";
  } catch {
    return "unknown";
  }
}

async function remove(collection: OpenCollection): Promise<StatementResult | Unsent> {
  const { model, selection, name, conditions, timeBudget, removal: update } = collection;
  const filter = castFilter(model, everyFilter(name, conditions, selection.version));
  if (update !== undefined) {
    const stored = await store({ filter, update, change: "remove" }, {
      ...collection,
      minimal: true,
    });
    return typeof stored === "string" ? stored : {};
  }
  try {
    await timeBudget.wait(removeOne({ model, timeBudget }, { filter, id: name?._id ?? name }));
    return {};
  } catch (error) {
    if (isFailure(error, "changed")) return "missed";
    throw error;
  }
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
