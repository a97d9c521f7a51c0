import type { Buffer } from "node:buffer";
import type { Document, Model } from "mongoose";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import { isSameForDatabase, type Projection, withoutApart } from "../../filter/projection.ts";
import { queryOptions } from "../../filter/selection.ts";
import { JsonText } from "../../json/populate.ts";
import { toJsonValue } from "../../json/to_json.ts";
import { documentsIn, identifierIn } from "../../json/bytes/bson_reader.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { BsonReads } from "../../sources/collection/bson_reads.ts";
import { decodeBson } from "../../sources/collection/bson_to_json.ts";
import { modelSupport } from "../../sources/collection/model_support.ts";

export interface TargetSource {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly declared: boolean;
  readonly scope: Filter;
  readonly projection: Projection;
  readonly maxTimeMS: number;
}

export type FoundTargets = Map<string, JsonText>;

export async function readTargets(
  source: TargetSource,
  ids: readonly unknown[],
): Promise<FoundTargets> {
  const { model, shape, declared, projection } = source;
  // A model without a class of the framework may have middleware, so its entities are read as documents.
  const isDirect = declared && isSameForDatabase(projection, shape);
  const reads = isDirect ? modelSupport(model, shape).reads : undefined;
  if (reads === undefined) return await readDocuments(source, ids);
  return await readDirect(source, { ids, reader: reads.reader });
}

async function readDirect(
  source: TargetSource,
  { ids, reader }: { readonly ids: readonly unknown[]; readonly reader: BsonReads },
): Promise<FoundTargets> {
  const { model, shape, scope } = source;
  const projection = withoutApart(source.projection, shape);
  const conditions = everyFilter({ _id: { $in: ids } }, castFilter(model, scope));
  const query = { conditions, projection, options: optionsOf(source) };
  const writer = reader.writerFor(query);
  const found: FoundTargets = new Map();
  for await (const batch of reader.batches(query)) {
    for (const stored of documentsIn(batch)) {
      found.set(idText(stored), new JsonText(writer.concat([stored])));
    }
  }
  return found;
}

/** A getter or a transform may need other fields, so whole documents are read. */
async function readDocuments(
  source: TargetSource,
  ids: readonly unknown[],
): Promise<FoundTargets> {
  const { model, shape, scope, projection } = source;
  const query = model.find({}, {}, optionsOf(source));
  const named = withConditions(query, everyFilter({ _id: { $in: ids } }, scope));
  const names = Object.keys(projection);
  const found: FoundTargets = new Map();
  for (const doc of await named.exec() as Document[]) {
    const value = toJsonValue(doc, shape);
    found.set(jsonOf(doc._id), new JsonText(jsonOf(names.length > 0 ? pick(value, names) : value)));
  }
  return found;
}

function optionsOf({ scope, maxTimeMS }: TargetSource): Record<string, unknown> {
  const selection = { filter: {}, scope, options: {}, projection: {} };
  return queryOptions(selection, { maxTimeMS, page: false });
}

function idText(stored: Buffer): string {
  const id = identifierIn(stored);
  return id === undefined ? jsonOf((decodeBson(stored) as { _id: unknown })._id) : `"${id}"`;
}

function jsonOf(value: unknown): string {
  return JSON.stringify(toJsonValue(value)) ?? "null";
}

function pick(value: unknown, names: readonly string[]): object {
  const values = value as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]),
  );
}
