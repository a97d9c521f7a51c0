import type { Model } from "mongoose";
import type { FieldTargets, TargetFinder } from "../../json/populate.ts";
import { toJson } from "../../json/to_json.ts";
import type { FilledFacts } from "../../pipeline/description.ts";
import { type ReferredModel, referredModels } from "../../pipeline/references.ts";
import type { LevelContext } from "../../pipeline/request/request_context.ts";
import { describeShape, type FieldShape, referenceIn } from "../../schema/fields/shape.ts";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";
import { readBase64 } from "../../schema/mongoose/bson.ts";
import { castIdentifier } from "../../sources/entities.ts";
import { readTargets, type TargetSource } from "./read_targets.ts";

export interface PopulateRule extends FilledFacts {
  /**
   * The projection of the fields in `select`. Every request uses the same object, because JSON writers are cached by
   * their projection object.
   */
  readonly projection: Readonly<Record<string, 1>>;
}

/**
 * Returns the finder of the entities that an answer shows in the place of their identifiers. Returns `undefined` if the
 * client requests no such entities, so that the answer keeps the identifiers.
 */
export async function openPopulation(
  context: LevelContext,
  populate: ReadonlyMap<string, PopulateRule>,
): Promise<TargetFinder | undefined> {
  const { maxTimeMS } = context.route;
  if (populate.size === 0) return undefined;
  const fields = new Map(
    Array.from(populate, ([name, { field }]) => [name, referenceIn(field) as FieldShape]),
  );
  const referred = await referredModels(context, fields.values());
  const sources = new Map(Array.from(populate, ([name, { projection }]): [string, TargetSource] => {
    const { model, target, scope } = referred.get(fields.get(name) as FieldShape) as ReferredModel;
    const shape = describeShape(model.schema, context.level.rights);
    return [name, { model, shape, declared: target !== undefined, scope, projection, maxTimeMS }];
  }));
  const find = async ([name, texts]: [string, Set<string>]): Promise<[string, FieldTargets]> => {
    return [name, await findTargets(sources.get(name) as TargetSource, texts)];
  };
  return {
    names: new Set(sources.keys()),
    shown: new Map(Array.from(populate, ([name, { select }]) => [name, select])),
    find: async (wanted) => new Map(await Promise.all(Array.from(wanted, find))),
  };
}

/**
 * Reads entities by the JSON texts of their identifiers. The keys of the result are the given texts, even if the
 * database writes an identifier in another form, because the answer contains the given texts. The value for a missing
 * entity is `null`.
 */
async function findTargets(source: TargetSource, texts: Iterable<string>): Promise<FieldTargets> {
  const ids = new Map<string, unknown>();
  const names = new Map<string, string>();
  for (const text of texts) {
    const id = readIdentifier(JSON.parse(text), source.model);
    if (id === undefined || id === null) continue;
    const name = toJson(id);
    ids.set(name, id);
    names.set(text, name);
  }
  if (ids.size === 0) return new Map();
  const found = await readTargets(source, [...ids.values()]);
  return new Map(Array.from(names, ([text, name]) => [text, found.get(name) ?? null]));
}

/**
 * Casts an identifier from JSON to the type of `_id`. Returns `undefined` for a value that the type does not accept, so
 * that it names no entity.
 */
function readIdentifier(value: unknown, model: Model<unknown>): unknown {
  const { instance } = model.schema.path("_id");
  if (instance === "Buffer") return readBase64(value);
  if (instance === "ObjectId" && !IDENTIFIER.test(String(value))) return undefined;
  return castIdentifier(value, model);
}
