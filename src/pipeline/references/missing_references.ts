import type { Problems } from "../../errors/refusals.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../../filter/filters.ts";
import { BATCH_SIZE } from "../../schema/mongoose/statements/bound_replies.ts";
import { castIdentifier } from "../../sources/entities.ts";
import type { NamedReference } from "../../write/body/cast_body.ts";
import { storedText } from "../../write/stored_values.ts";
import type { LevelCall } from "../request/call.ts";
import { referredModels } from "./referred_model.ts";
import type { ReferredModel } from "./referred_model.ts";

/** A reference of a body, and the key of its problem where that is not its path. */
interface CheckedReference extends NamedReference {
  readonly key?: string;
}

/** Finds references that name no entity in the scope of its class, by one query a field; `undefined` if none. */
export async function missingReferences(
  at: LevelCall,
  references: readonly CheckedReference[],
): Promise<Problems | undefined> {
  if (references.length === 0) return undefined;
  const referred = await referredModels(at, new Set(references.map(({ field }) => field)));
  const found = await Promise.all(Array.from(referred, ([field, model]) => {
    const named = references.filter((each) => each.field === field);
    return lookUp(at, { ...model, references: named });
  }));
  const missing = new Set(found.flat());
  if (missing.size === 0) return undefined;
  // The same for an entity that is not there and for one that is out of scope.
  const problems = references.filter((each) => missing.has(each)).map(({ path, key = path }) => [
    key,
    { message: `Value at "${path}" names no entity`, kind: "exists" },
  ]);
  return Object.fromEntries(problems);
}

interface Lookup extends ReferredModel {
  readonly references: readonly CheckedReference[];
}

async function lookUp(
  { timeBudget, route: { maxTimeMS } }: LevelCall,
  { model, scope, references }: Lookup,
): Promise<CheckedReference[]> {
  const { instance } = model.schema.path("_id");
  const textOf = (id: unknown) => instance === "ObjectId" ? String(id) : storedText(id);
  const ids = new Map<string, unknown>();
  const texts = references.map(({ id }) => {
    const cast = castIdentifier(id, model);
    if (cast === undefined) return undefined;
    const text = textOf(cast);
    ids.set(text, cast);
    return text;
  });
  const options = { ...KEEP_CONDITIONS, lean: true, maxTimeMS, batchSize: BATCH_SIZE };
  const query = model.find({}, { _id: 1 }, options);
  const named = withConditions(query, everyFilter({ _id: { $in: [...ids.values()] } }, scope));
  const found = ids.size === 0 ? [] : await timeBudget.wait(named.exec()) as { _id: unknown }[];
  const present = new Set<string | undefined>(found.map(({ _id }) => textOf(_id)));
  return references.filter((_, index) => !present.has(texts[index]));
}
