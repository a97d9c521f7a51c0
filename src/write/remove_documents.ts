import type { ClientSession, Document, Model, mongo, Query } from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { everyFilter, type Filter, isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import { type Removal, sendWith } from "../schema/mongoose/statements/send_with.ts";
import { matchAsIs } from "../schema/mongoose/statements/query_casts.ts";
import { alone, REPLACED } from "./save_document.ts";
import type { SaveDocumentOptions, Together, Written } from "./save_document.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { storedText } from "./stored_values.ts";
import { unchangedSeen } from "./update_conditions.ts";
import { alwaysRead, BEFORE_WRITE, changedBy } from "./written_entity.ts";
import { projectionOfWrite, type WrittenEntity } from "./written_entity.ts";

/** Throws "changed" if the document no longer matches the scope and the filter. */
export async function removeDocument(
  doc: Document,
  options: SaveDocumentOptions,
): Promise<void> {
  const { scope, filter, collation, statementOptions, together, isRecorded = false } = options;
  const model = doc.constructor as Model<unknown>;
  const ids = [doc._id];
  const all = [scope, filter].filter((each) => !isEmpty(each))
    .map((each) => castFilter(model, each));
  const unchanged = unchangedSeen(doc);
  if (!isEmpty(unchanged)) all.push(unchanged);
  if (options.removal !== undefined) {
    const named = { _id: doc._id, ...all.length > 0 && { $and: all } };
    return await updateRemoved(model, { ...options, named, removal: options.removal });
  }
  const query = doc.deleteOne().setOptions({ ...KEEP_CONDITIONS, ...collation && { collation } });
  if (all.length > 0) matchAsIs(query, { $and: all });
  const removal: Removal<Written> = {
    statementOptions,
    together,
    async perform(send, session) {
      const before = isRecorded ? await readRemoved(model, { ids, session, scope }) : undefined;
      const { acknowledged, deletedCount } = await send();
      if (acknowledged && Number(deletedCount) === 0) throw new StoreFailure({ kind: "changed" });
      return before;
    },
  };
  await sendWith(query as unknown as Query<mongo.DeleteResult, unknown>, removal);
}

interface UpdateRemoved extends SaveDocumentOptions {
  /** The update is sent without Mongoose, so the conditions are cast already. */
  readonly named: Filter;
  readonly removal: Update;
}

/**
 * The update that is sent in the place of a removal. Throws "changed" if the document no longer matches its conditions.
 */
async function updateRemoved(
  model: Model<unknown>,
  { named, removal, collation, statementOptions, together = alone, isRecorded }: UpdateRemoved,
): Promise<void> {
  const projection = isRecorded
    ? projectionOfWrite([removal], alwaysRead(model as never))
    : { _id: 1 };
  await together(async (session, mostMS) => {
    const options = {
      ...statementOptions(session, mostMS),
      ...collation && { collation: collation as mongo.CollationOptions },
    };
    const before = await model.collection.findOneAndUpdate(named, removal as object, {
      ...options,
      projection,
      ...REPLACED,
    });
    if (before === null) throw new StoreFailure({ kind: "changed" });
    return isRecorded
      ? [{ id: before._id, before, changed: changedBy(removal, before) }]
      : undefined;
  });
}

/** Class options record the values, so they are read in the transaction of the removal. */
async function readRemoved(
  model: Model<unknown>,
  { ids, session, scope, fields = {} }: {
    readonly ids: readonly unknown[];
    readonly scope: Filter;
    readonly session: ClientSession | undefined;
    readonly fields?: Readonly<Record<string, 1>>;
  },
): Promise<WrittenEntity[]> {
  const options = { ...BEFORE_WRITE, projection: fields, ...session && { session } };
  const named = castFilter(model, everyFilter({ _id: { $in: ids } }, scope));
  const found = await model.collection.find(named, options).toArray();
  return found.map((before) => ({ id: before._id, before }));
}

interface RemoveMatchingOptions extends SaveDocumentOptions {
  /** The query options that hooks have set for the removal. */
  readonly options?: Readonly<Record<string, unknown>> | undefined;
  /**
   * The identifiers by which the values are read for a history before the removal. Missing if the filter alone selects
   * the entities.
   */
  readonly ids?: readonly unknown[] | undefined;
}

/** With `removal`, updates the entities. Returns their number. */
export async function removeMatching(
  model: Model<unknown>,
  given: RemoveMatchingOptions,
): Promise<number> {
  const { scope, filter, together = alone, removal } = given;
  const named = castFilter(model, everyFilter(filter, scope));
  let count = 0;
  await together(async (session) => {
    const sent = { ...given, named, session };
    const done = await (removal === undefined
      ? removeNamed(model, sent)
      : updateNamed(model, { ...sent, removal }));
    count = done.count;
    return done.written;
  });
  return count;
}

interface NamedRemoval extends RemoveMatchingOptions {
  readonly named: Filter;
  readonly session: ClientSession | undefined;
}

async function removeNamed(
  model: Model<unknown>,
  { named, session, scope, isRecorded = false, ids = [], ...given }: NamedRemoval,
): Promise<{ readonly count: number; readonly written?: Written }> {
  const before = isRecorded ? await readRemoved(model, { ids, session, scope }) : [];
  const { deletedCount } = await model.collection.deleteMany(
    named,
    optionsOfMany(model, { ...given, session }),
  );
  if (!isRecorded || deletedCount === before.length) {
    return { count: deletedCount, ...isRecorded && { written: before } };
  }
  // Some entities did not match the filter and were not removed.
  const left = await readRemoved(model, { ids, session, scope, fields: { _id: 1 } });
  const kept = new Set(left.map(({ id }) => storedText(id)));
  return { count: deletedCount, written: before.filter(({ id }) => !kept.has(storedText(id))) };
}

async function updateNamed(
  model: Model<unknown>,
  { named, session, scope, isRecorded, removal, ...given }: NamedRemoval & {
    readonly removal: Update;
  },
): Promise<{ readonly count: number; readonly written?: Written }> {
  const { collection } = model;
  const options = optionsOfMany(model, { ...given, session });
  const update = removal as mongo.UpdateFilter<mongo.Document>;
  if (!isRecorded) {
    const { modifiedCount } = await collection.updateMany(named, update, options);
    return { count: modifiedCount };
  }
  const projection = projectionOfWrite([removal], alwaysRead(model as never));
  const found = await collection.find(named, { ...options, projection }).toArray();
  const ids = { _id: { $in: found.map(({ _id }) => _id) } };
  await collection.updateMany(everyFilter(ids, castFilter(model, scope)), update, options);
  const written = found.map((before) => {
    return { id: before._id, before, changed: changedBy(removal, before) };
  });
  return { count: found.length, written };
}

/** Some options come from hooks, and some from the schema. */
function optionsOfMany(
  { schema }: Model<unknown>,
  { session, statementOptions, collation, options = {} }: Pick<
    NamedRemoval,
    "session" | "statementOptions" | "collation" | "options"
  >,
): mongo.DeleteOptions {
  const statement = statementOptions(session);
  const { hint, comment, maxTimeMS } = options;
  const compared = collation ?? options.collation ?? schema.get("collation" as never);
  // A statement in a transaction cannot have a write concern.
  const writeConcern: unknown = session === undefined ? schema.get("writeConcern") : undefined;
  return {
    ...statement,
    maxTimeMS: Math.min(Number(maxTimeMS) || statement.maxTimeMS, statement.maxTimeMS),
    ...Object.fromEntries(
      Object.entries({ hint, comment, collation: compared, writeConcern })
        .filter(([, value]) => value !== undefined && value !== null),
    ),
  };
}

export interface RemoveNamedOptions {
  /** The identifiers that class options get with the removal. */
  readonly ids?: readonly unknown[];
  readonly options?: Record<string, unknown>;
  readonly together?: Together;
  readonly filter?: Filter;
  /** Whether the removal undoes a creation, so that the entities do not go into the trash. */
  readonly undoes?: boolean;
}
