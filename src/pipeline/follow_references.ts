import { Buffer } from "node:buffer";
import mongoose, { type Model } from "mongoose";
import { badFormat } from "../errors/refusals.ts";
import { withConditions } from "../filter/cast_filter.ts";
import { everyFilter, type Filter, KEEP_CONDITIONS, replaceOperators } from "../filter/filters.ts";
import { ReferenceCondition } from "../filter/q/reference_condition.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape } from "../schema/fields/shape.ts";
import { BATCH_SIZE } from "../schema/mongoose/statements/bound_replies.ts";
import { type ReferredModel, referredModels } from "./references.ts";
import type { LevelContext } from "./request/request_context.ts";

/**
 * Scope, trash and tenant of the referenced class apply first, so that neither the result nor the limit reveals other
 * entities.
 */
export async function followReferences<F extends readonly (Filter | undefined)[]>(
  context: LevelContext,
  filters: readonly [...F],
): Promise<readonly [...F]> {
  const conditions = collectConditions(filters);
  if (conditions.size === 0) return filters;
  const fields = [...conditions].map(({ reference }) => reference);
  const models = await referredModels(context, fields, { isGuarded: true });
  const lookups = new Map<string, Lookup>();
  for (const condition of conditions) {
    const model = models.get(condition.reference) as ReferredModel;
    const key = keyOf(model, condition);
    const lookup = lookups.get(key) ?? { ...model, conditions: [] };
    lookup.conditions.push(condition);
    lookups.set(key, lookup);
  }
  // The queries run in turn, because parallel ones would occupy most connections of the pool.
  const identifiers = new Map<ReferenceCondition, unknown[]>();
  for (const lookup of lookups.values()) {
    for (const [condition, ids] of await askClass(context, lookup)) identifiers.set(condition, ids);
  }
  const replaced = filters.map((filter) =>
    filter && replaceOperators(filter, ({ $in }) => {
      const ids = $in instanceof ReferenceCondition ? identifiers.get($in) : undefined;
      return ids && { $in: ids };
    })
  );
  if (mongoose.mongo.BSON.calculateObjectSize({ ...replaced }) > MAX_BYTES) {
    throw badFormat("The conditions through references select too many entities: narrow them");
  }
  return replaced as [...F];
}

/** MongoDB's limit is 16 MB for the whole statement. */
const MAX_BYTES = 15 * 1024 * 1024;

/** Equal conditions share one query. */
interface Lookup extends ReferredModel {
  readonly conditions: ReferenceCondition[];
}

export function collectConditions(
  value: unknown,
  found = new Set<ReferenceCondition>(),
): ReadonlySet<ReferenceCondition> {
  if (value instanceof ReferenceCondition) found.add(value);
  else if (Array.isArray(value)) value.forEach((each) => collectConditions(each, found));
  else if (isJsonObject(value)) {
    Object.values(value).forEach((each) => collectConditions(each, found));
  }
  return found;
}

function keyOf({ model }: ReferredModel, { conditions }: ReferenceCondition): string {
  const bytes = Buffer.from(mongoose.mongo.BSON.serialize(conditions));
  return `${model.modelName} ${bytes.toString("latin1")}`;
}

async function askClass(
  { timeBudget, route: { maxTimeMS, limits: { maxReferred } } }: LevelContext,
  { model, scope, conditions }: Lookup,
): Promise<[ReferenceCondition, unknown[]][]> {
  const [{ path, conditions: asked }] = conditions as [ReferenceCondition];
  const limit = maxReferred + 1;
  const options = { ...KEEP_CONDITIONS, lean: true, limit, maxTimeMS, batchSize: BATCH_SIZE };
  const query = withConditions(model.find({}, { _id: 1 }, options), everyFilter(asked, scope));
  const found = await timeBudget.wait(query.exec()) as readonly { readonly _id: unknown }[];
  if (found.length > maxReferred) {
    throw badFormat(
      `The condition on "${path}" selects more than ${maxReferred} entities: narrow it`,
      { field: path },
    );
  }
  const ids = found.map(({ _id }) => _id);
  return conditions.map((each) => [each, idsFor(each.reference, { ids, model })]);
}

/** Leaves out identifiers that the reference cannot store, because no entity refers to them. */
function idsFor(
  { type }: FieldShape,
  { ids, model }: { readonly ids: unknown[]; readonly model: Model<unknown> },
): unknown[] {
  if (type === undefined || type.instance === model.schema.path("_id").instance) return ids;
  return ids.flatMap((id) => {
    try {
      return [type.cast(id, null as never, false)];
    } catch {
      return [];
    }
  });
}
