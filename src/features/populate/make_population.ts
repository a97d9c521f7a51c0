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

export interface PopulatedField extends FilledFacts {
  /** Compiled JSON writers are cached by this object, so every request must use the same. */
  readonly projection: Readonly<Record<string, 1>>;
}

export type PopulateConfig = ReadonlyMap<string, PopulatedField>;

export interface AskedPopulation {
  readonly config: PopulateConfig;
  readonly asked: ReadonlySet<string>;
}

export async function makePopulation(
  context: LevelContext,
  { config, asked }: AskedPopulation,
): Promise<TargetFinder> {
  const { maxTimeMS } = context.route;
  const fields = new Map(
    Array.from(config, ([name, { field }]) => [name, referenceIn(field) as FieldShape]),
  );
  const referred = await referredModels(context, fields.values(), { isGuarded: true });
  const sources = new Map(Array.from(config, ([name, { projection }]): [string, TargetSource] => {
    const { model, target, scope } = referred.get(fields.get(name) as FieldShape) as ReferredModel;
    const shape = describeShape(model.schema, context.level.rights);
    return [name, { model, shape, declared: target !== undefined, scope, projection, maxTimeMS }];
  }));
  const find = async ([name, texts]: [string, Set<string>]): Promise<[string, FieldTargets]> => {
    return [name, await findTargets(sources.get(name) as TargetSource, texts)];
  };
  return {
    names: new Set(sources.keys()),
    asked,
    shown: new Map(Array.from(config, ([name, { select }]) => [name, select])),
    find: async (wanted) => new Map(await Promise.all(Array.from(wanted, find))),
  };
}

/** The keys are the given JSON texts, which callers look up: the JSON of a found identifier may differ. */
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

function readIdentifier(value: unknown, model: Model<unknown>): unknown {
  const { instance } = model.schema.path("_id");
  if (instance === "Buffer") return readBase64(value);
  if (instance === "ObjectId" && !IDENTIFIER.test(String(value))) return undefined;
  return castIdentifier(value, model);
}
