import mongoose from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { StoreFailure } from "../../errors/failure.ts";
import type { TransactionWrite } from "../../pipeline/class_feature.ts";
import { viaOf } from "../../pipeline/plugins/admit_client.ts";
import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { sendUpdates, type UpsertStatement } from "../../schema/mongoose/statements/commands.ts";
import type { StoredObject } from "../../store/values.ts";
import type { WrittenEntity } from "../../store/writes/written_entity.ts";
import type { HistoryConfig } from "./history.ts";
import { historyOf, type StoredRecord } from "./history_collection.ts";
import { keepFor } from "./history_indexes.ts";
import { isRecorded, recordedShape, recordedValues } from "./recorded_values.ts";

const { BSON, ObjectId } = mongoose.mongo;

/** MongoDB allows 16 MB for a whole statement. */
const MAX_BYTES = 16 * 1024 * 1024 - 16 * 1024;

export async function addRecords(
  config: HistoryConfig,
  { target, model, entities, session, request, ...write }: TransactionWrite,
): Promise<void> {
  keepFor(model, config);
  const via = request && viaOf(request.client);
  const records = entities.map((entity) => recordOf(entity, { ...write, via, model, target }));
  const collection = historyOf(model);
  await sendUpdates({ db: model.db, collection }, records.map(insertionOf), { session });
}

type NewRecord = Omit<StoredRecord, "at">;

/** An upsert with a pipeline, because an insert cannot set the time by the clock of the database. */
function insertionOf(record: NewRecord): UpsertStatement {
  if (BSON.calculateObjectSize(record) > MAX_BYTES) {
    const cause = new RangeError("A record of the history is too large");
    throw new StoreFailure({ kind: "largeTransaction" }, cause);
  }
  const stage = { $replaceWith: { $mergeObjects: ["$$ROOT", { $literal: record }, NOW] } };
  return { q: { _id: new ObjectId(), entity: { $eq: record.entity } }, u: [stage], upsert: true };
}

const NOW = { at: "$$NOW" };

interface RecordedWrite extends Pick<TransactionWrite, "actor" | "operation" | "model"> {
  readonly target: ModelClass;
  readonly via: string | undefined;
}

function recordOf(
  { id, before = {}, created, changed = Object.keys(before) }: WrittenEntity,
  { actor, via, operation, model, target }: RecordedWrite,
): NewRecord {
  const shape = recordedShape(target);
  const key = versionKeyOf(model);
  const version = created === undefined ? (asVersion(before[key ?? ""]) ?? 0) + 1 : 0;
  const names = changed.filter((name) => name !== key && isRecorded(name, shape));
  return {
    entity: id,
    version,
    ...actor !== undefined && { actor },
    ...via !== undefined && { via },
    operation,
    changed: names,
    before: valuesOf(names, { before, shape }),
  };
}

function valuesOf(
  names: readonly string[],
  { before, shape }: { readonly before: StoredObject; readonly shape: Shape },
): StoredObject {
  const stored = names.filter((name) => Object.hasOwn(before, name));
  const values = Object.fromEntries(stored.map((name) => [name, before[name]]));
  return recordedValues(values, shape);
}
