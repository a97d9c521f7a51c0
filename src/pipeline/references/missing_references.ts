import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { Problem, Problems } from "../../errors/refusals.ts";
import { withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import type { NamedReference } from "../../write/body/cast_body.ts";
import { BATCH_SIZE } from "../../schema/mongoose/statements/bound_replies.ts";
import { storedText } from "../../write/stored_values.ts";
import type { LevelCall } from "../request/call.ts";
import { classScope } from "./class_scope.ts";
import { referredModel } from "./referred_model.ts";
import type { ReferredModel } from "./referred_model.ts";

interface Lookup extends ReferredModel {
  readonly scope: Filter;
  readonly references: readonly NamedReference[];
}

/** Finds references that name no entity in the scope of its class, by one query a field; `undefined` if none. */
export async function missingReferences(
  at: LevelCall,
  references: readonly NamedReference[],
): Promise<Problems | undefined> {
  if (references.length === 0) return undefined;
  const lookups = await openLookups(at, references);
  const found = await Promise.all(lookups.map((lookup) => lookUp(at, lookup)));
  const missing = new Set(found.flat());
  if (missing.size === 0) return undefined;
  return Object.fromEntries(
    references.filter((each) => missing.has(each)).map(({ path }) => [path, problemAt(path)]),
  );
}

/** The answer for an entity that is not there and for one that is out of scope. */
function problemAt(path: string): Problem {
  return { message: `Value at "${path}" names no entity`, kind: "exists" };
}

async function openLookups(
  at: LevelCall,
  references: readonly NamedReference[],
): Promise<Lookup[]> {
  const { db } = await at.model();
  const fields = new Map<FieldShape, NamedReference[]>();
  for (const each of references) {
    const others = fields.get(each.field);
    if (others === undefined) fields.set(each.field, [each]);
    else others.push(each);
  }
  const scopes = new Map<ModelClass | undefined, Filter>();
  const lookups: Lookup[] = [];
  for (const [field, named] of fields) {
    const referred = referredModel(field, db);
    const { target } = referred;
    const scope = scopes.get(target) ?? await classScope(at, referred);
    scopes.set(target, scope);
    lookups.push({ ...referred, scope, references: named });
  }
  return lookups;
}

/** Gives those references that name no entity. */
async function lookUp(
  { timeBudget, route: { maxTimeMS } }: LevelCall,
  { model, scope, references }: Lookup,
): Promise<NamedReference[]> {
  const type = model.schema.path("_id");
  const textOf = (id: unknown) => type.instance === "ObjectId" ? String(id) : storedText(id);
  const ids = new Map<string, unknown>();
  const texts = references.map(({ id }) => {
    try {
      const cast = type.cast(id, null as never, false);
      const text = textOf(cast);
      ids.set(text, cast);
      return text;
    } catch {
      return undefined;
    }
  });
  const options = { ...KEEP_CONDITIONS, lean: true, maxTimeMS, batchSize: BATCH_SIZE };
  const query = model.find({}, { _id: 1 }, options);
  const named = withConditions(query, everyFilter({ _id: { $in: [...ids.values()] } }, scope));
  const found = ids.size === 0 ? [] : await timeBudget.wait(named.exec()) as { _id: unknown }[];
  const present = new Set<string | undefined>(found.map(({ _id }) => textOf(_id)));
  return references.filter((_, index) => !present.has(texts[index]));
}
