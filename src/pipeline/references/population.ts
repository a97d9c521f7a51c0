import type { Model } from "mongoose";
import type { FieldTargets, TargetFinder } from "../../json/populate.ts";
import { toJson } from "../../json/to_json.ts";
import { IDENTIFIER } from "../../schema/fields/system_fields.ts";
import { describeShape, referenceIn } from "../../schema/fields/shape.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { readBase64 } from "../../schema/mongoose/bson.ts";
import { castIdentifier } from "../../sources/entities.ts";
import { readTargets } from "../../sources/read_targets.ts";
import type { FoundTargets, TargetSource } from "../../sources/read_targets.ts";
import type { LevelCall } from "../request/call.ts";
import { referredModels } from "./referred_model.ts";
import type { ReferredModel } from "./referred_model.ts";

/** How many entities one query asks for: a message to the database has a limit. */
const MAX_IDS = 50_000;

export async function openPopulation(at: LevelCall): Promise<TargetFinder | undefined> {
  const { asked: { populate }, route: { maxTimeMS } } = at;
  if (populate === undefined || populate.size === 0) return undefined;
  const fields = new Map(
    Array.from(populate, ([name, { field }]) => [name, referenceIn(field) as FieldShape]),
  );
  const referred = await referredModels(at, fields.values());
  const sources = new Map(Array.from(populate, ([name, { projection }]): [string, TargetSource] => {
    const { model, target, scope } = referred.get(fields.get(name) as FieldShape) as ReferredModel;
    const shape = describeShape(model.schema, at.level.rights);
    return [name, { model, shape, declared: target !== undefined, scope, projection, maxTimeMS }];
  }));
  const find = async ([name, texts]: [string, Set<string>]): Promise<[string, FieldTargets]> => {
    return [name, await findTargets(sources.get(name) as TargetSource, texts)];
  };
  return {
    names: new Set(sources.keys()),
    find: async (wanted) => new Map(await Promise.all(Array.from(wanted, find))),
  };
}

async function findTargets(source: TargetSource, texts: Iterable<string>): Promise<FieldTargets> {
  const { ids, names } = readIdentifiers(texts, source.model);
  const found: FoundTargets = new Map();
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const some = await readTargets(source, ids.slice(start, start + MAX_IDS));
    for (const [name, target] of some) found.set(name, target);
  }
  return new Map(Array.from(names, ([text, name]) => [text, found.get(name) ?? null]));
}

interface Identifiers {
  /** Those that the database is asked for, each once. */
  readonly ids: readonly unknown[];
  /** The identifiers that the database answers, by those in the references: both as JSON text. */
  readonly names: ReadonlyMap<string, string>;
}

/** Reads identifiers in JSON text as the type of `_id` has them. What it does not take is none. */
function readIdentifiers(texts: Iterable<string>, model: Model<unknown>): Identifiers {
  const ids = new Map<string, unknown>();
  const names = new Map<string, string>();
  for (const text of texts) {
    const id = readIdentifier(JSON.parse(text), model);
    if (id === undefined || id === null) continue;
    const name = toJson(id);
    ids.set(name, id);
    names.set(text, name);
  }
  return { ids: [...ids.values()], names };
}

function readIdentifier(value: unknown, model: Model<unknown>): unknown {
  const { instance } = model.schema.path("_id");
  if (instance === "Buffer") return readBase64(value);
  if (instance === "ObjectId" && !IDENTIFIER.test(String(value))) return undefined;
  return castIdentifier(value, model);
}
