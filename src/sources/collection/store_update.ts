import mongoose from "mongoose";
import type { Model } from "mongoose";
import { isEmpty } from "../../filter/filters.ts";
import { toJson } from "../../json/to_json.ts";
import { asVersion, versionKeyOf } from "../../schema/fields/system_fields.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { type UpdateCommand, updateOne, versionOf } from "../../store/writes/update.ts";
import type { StatementResult, Unsent } from "../source.ts";
import { type Additions, stampsFor } from "../additions.ts";
import { operatorsFor, type Stamps } from "../../store/values.ts";
import { timeStamps } from "./entity_maker.ts";
import { modelSupport } from "./model_support.ts";
import type { OpenCollection } from "./read_stored.ts";

export function stampingUpdate(values: Stamps, model: Model<unknown>): Update {
  const { set, unset } = operatorsFor(values);
  const all = { ...set, ...timeStamps(model, "updatedAt") };
  const key = versionKeyOf(model);
  return {
    ...!isEmpty(all) && { $set: all },
    ...!isEmpty(unset) && { $unset: unset },
    ...key !== undefined && { $inc: { [key]: 1 } },
  };
}

export function removalUpdate(
  additions: Additions | undefined,
  model: Model<unknown>,
): Update | undefined {
  const values = additions?.removal?.();
  return values && stampingUpdate({ ...stampsFor(additions, model)?.(false), ...values }, model);
}

export async function store(
  command: Omit<UpdateCommand, "id" | "projection">,
  { minimal = false, addedStatements, name, ...collection }: OpenCollection & {
    readonly minimal?: boolean | undefined;
  },
): Promise<StatementResult | Unsent> {
  const { model, shape, timeBudget } = collection;
  const projection = minimal ? versionOf(model) : shape.withoutApart;
  const sent = updateOne({ model, timeBudget, addedStatements }, {
    ...command,
    id: name?._id ?? name,
    projection,
  });
  const result = await timeBudget.wait(sent).catch(orRefused);
  if (result === "refused") return result;
  const { isMet, after: stored = {} } = result;
  // With a write concern of 0, MongoDB returns no entity for the answer, so the update counts as missed.
  if (!isMet || !minimal && result.after === undefined) return "missed";
  const version = asVersion(stored[versionKeyOf(model) ?? ""]);
  const facts = { version, ...version === 0 && { created: String(stored._id) } };
  if (minimal) return facts;
  const { reads } = modelSupport(model, shape);
  const text = reads?.reader.writerFor({ projection: {} }).text(stored);
  return { text: text ?? toJson(model.hydrate(stored), shape), ...facts };
}

/**
 * After these error codes, Mongoose documents repeat the write: a version is no number, the collection's validator
 * refuses, or a value is a duplicate.
 */
const REFUSALS = new Set<unknown>([2, 14, 121, 11000, 16554]);

export function orRefused(error: unknown): "refused" {
  if (error instanceof mongoose.mongo.MongoServerError && REFUSALS.has(error.code)) {
    return "refused";
  }
  throw error;
}
