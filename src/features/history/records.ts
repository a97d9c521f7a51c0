import mongoose from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { tooMuch } from "../../errors/refusals.ts";
import type { TogetherWrite } from "../../pipeline/class_feature.ts";
import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { StoredObject } from "../../write/stored_values.ts";
import type { WrittenEntity } from "../../write/written_entity.ts";
import type { HistoryRule } from "./history.ts";
import { historyOf, type HistoryRecord } from "./history_collection.ts";
import { keepFor } from "./history_indexes.ts";
import { isRecorded, recordedShape, recordedValues } from "./recorded_values.ts";

const { BSON, ObjectId } = mongoose.mongo;

/** The maximum size of a record in bytes. MongoDB needs the rest of its limit of 16 MB for the statement. */
const MAX_BYTES = 16 * 1024 * 1024 - 16 * 1024;

/** The maximum number of bytes of the records in one command, which a command of MongoDB can hold. */
const COMMAND_BYTES = 12 * 1024 * 1024;

/** Adds a record of each entity that a statement has written, in the transaction of the statement. */
export async function addRecords(
  rule: HistoryRule,
  { target, model, entities, session, ...write }: TogetherWrite,
): Promise<void> {
  keepFor(model, rule);
  const history = historyOf(model);
  const records = entities.map((entity) => recordOf(entity, { ...write, model, target }));
  for (const some of inCommands(records)) {
    // A pipeline sets the time by the clock of the database, which an insert cannot do.
    const updates = some.map((record) => ({
      filter: { _id: new ObjectId() },
      update: [{ $replaceWith: { $mergeObjects: ["$$ROOT", { $literal: record }, NOW] } }],
      upsert: true,
    }));
    const [only] = updates;
    if (updates.length > 1) {
      await history.bulkWrite(updates.map((updateOne) => ({ updateOne })) as never, {
        session,
        ordered: false,
      });
    } else if (only !== undefined) {
      await history.updateOne(only.filter, only.update, { session, upsert: true });
    }
  }
}

const NOW = { at: "$$NOW" };

type NewRecord = Omit<HistoryRecord, "at">;

/** Divides records into lists that one command can hold. Throws a 413 if a record is too large for the database. */
function* inCommands(records: readonly NewRecord[]): Generator<NewRecord[]> {
  let list: NewRecord[] = [];
  let size = 0;
  for (const record of records) {
    const own = BSON.calculateObjectSize(record);
    if (own > MAX_BYTES) throw tooMuch(new RangeError("A record of the history is too large"));
    if (list.length > 0 && size + own > COMMAND_BYTES) {
      yield list;
      list = [];
      size = 0;
    }
    list.push(record);
    size += own;
  }
  if (list.length > 0) yield list;
}

interface RecordedWrite extends Pick<TogetherWrite, "actor" | "operation" | "model"> {
  readonly target: ModelClass;
}

function recordOf(
  { id, before = {}, created, changed = Object.keys(before) }: WrittenEntity,
  { actor, operation, model, target }: RecordedWrite,
): NewRecord {
  const shape = recordedShape(target);
  const key = versionKeyOf(model);
  const version = created === undefined ? (asVersion(before[key ?? ""]) ?? 0) + 1 : 0;
  const names = changed.filter((name) => name !== key && isRecorded(name, shape));
  return {
    entity: id,
    version,
    ...actor !== undefined && { actor },
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
