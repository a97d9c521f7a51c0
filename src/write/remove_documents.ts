import type { ClientSession, Document, Model, mongo, Query } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import { type Removal, sendWith } from "../schema/mongoose/statements/send_with.ts";
import { matchAsIs } from "../schema/mongoose/statements/query_casts.ts";
import type { SaveDocumentOptions, Written } from "./save_document.ts";
import { storedText } from "./stored_values.ts";
import { unchangedSeen } from "./update_conditions.ts";
import type { WrittenEntity } from "./written_entity.ts";

/**
 * Removes a document with its middleware. Throws a 409 if the document no longer matches the scope and the filter,
 * because another request has changed or removed it.
 */
export async function removeDocument(
  doc: Document,
  { scope, filter, collation, statementOptions, together, isRecorded = false }: SaveDocumentOptions,
): Promise<void> {
  const model = doc.constructor as Model<unknown>;
  const ids = [doc._id];
  const all = [scope, filter].filter((each) => !isEmpty(each))
    .map((each) => castFilter(model, each));
  const unchanged = unchangedSeen(doc);
  if (!isEmpty(unchanged)) all.push(unchanged);
  const query = doc.deleteOne().setOptions({ ...KEEP_CONDITIONS, ...collation && { collation } });
  if (all.length > 0) matchAsIs(query, { $and: all });
  const removal: Removal<Written> = {
    name: "deleteOne",
    statementOptions,
    together,
    async perform(send, session) {
      const before = isRecorded ? await readRemoved(model, { ids, session }) : undefined;
      const { acknowledged, deletedCount } = await send();
      if (acknowledged && Number(deletedCount) === 0) throw conflict();
      return before;
    },
  };
  await sendWith(query as unknown as Query<mongo.DeleteResult, unknown>, removal);
}

/** Reads entities before their removal, in the transaction of the removal. */
async function readRemoved(
  { collection }: Model<unknown>,
  { ids, session, fields = {} }: {
    readonly ids: readonly unknown[];
    readonly session: ClientSession | undefined;
    readonly fields?: Readonly<Record<string, 1>>;
  },
): Promise<WrittenEntity[]> {
  const options = { projection: fields, ...session && { session } };
  const found = await collection.find({ _id: { $in: ids as never[] } }, options).toArray();
  return found.map((before) => ({ id: before._id, before }));
}

export async function removeMatching(
  model: Model<unknown>,
  { scope, filter, collation, statementOptions, together, isRecorded = false, ...removal }:
    & SaveDocumentOptions
    & {
      /** The query options that hooks may have set, such as `maxTimeMS`. */
      readonly options?: Record<string, unknown> | undefined;
      /** The identifiers of the entities. Missing if the filter alone selects the entities. */
      readonly ids?: readonly unknown[] | undefined;
    },
): Promise<void> {
  const { options = {}, ids = [] } = removal;
  const given = { ...KEEP_CONDITIONS, ...collation && { collation }, ...options };
  const query = withConditions(model.deleteMany({}, given as never), everyFilter(filter, scope));
  await sendWith(query as never, {
    name: "deleteMany",
    together,
    statementOptions(session) {
      const statement = statementOptions(session);
      const most = Number(options.maxTimeMS) || statement.maxTimeMS;
      return { ...statement, maxTimeMS: Math.min(most, statement.maxTimeMS) };
    },
    async perform(send, session): Promise<Written> {
      const before = isRecorded ? await readRemoved(model, { ids, session }) : [];
      const { deletedCount } = await send();
      if (!isRecorded) return undefined;
      if (Number(deletedCount) === before.length) return before;
      // Some entities did not match the filter and were not removed.
      const left = await readRemoved(model, { ids, session, fields: { _id: 1 } });
      const kept = new Set(left.map(({ id }) => storedText(id)));
      return before.filter(({ id }) => !kept.has(storedText(id)));
    },
  });
}
