import type { PopulateRule } from "../../filter/parameters/read_rules.ts";
import type { Filter } from "../../filter/filters.ts";
import type { Projection } from "../../filter/projection.ts";
import type { FieldTargets, TargetFinder, Targets, Wanted } from "../../json/populate/targets.ts";
import { describeShape, referenceIn } from "../../schema/fields/shape.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { readTargets } from "../../sources/read_targets.ts";
import type { FoundTargets, TargetSource } from "../../sources/read_targets.ts";
import type { LevelCall } from "../request/call.ts";
import { classScope } from "./class_scope.ts";
import { readIdentifiers } from "./identifiers.ts";
import { referredModel } from "./referred_model.ts";

/** How many entities one query asks for: a message to the database has a limit. */
const MAX_IDS = 50_000;

/** Opens what a request shows in place of identifiers. Scopes are evaluated once each. */
export async function openPopulation(at: LevelCall): Promise<TargetFinder | undefined> {
  const { asked: { populate }, route: { maxTimeMS } } = at;
  if (populate === undefined || populate.size === 0) return undefined;
  const { db } = await at.model();
  const scopes = new Map<unknown, Filter>();
  const sources = new Map<string, TargetSource>();
  for (const [name, rule] of populate) {
    const referred = referredModel(referenceIn(rule.field) as FieldShape, db);
    const { model, target } = referred;
    const scope = scopes.get(model) ?? await classScope(at, referred);
    scopes.set(model, scope);
    const shape = describeShape(model.schema);
    const declared = target !== undefined;
    const projection = projectionOf(rule);
    sources.set(name, { model, shape, declared, scope, projection, maxTimeMS });
  }
  return new Population(sources);
}

/** Puts entities in the place of the identifiers that one request shows. */
class Population implements TargetFinder {
  readonly names: ReadonlySet<string>;
  readonly #sources: ReadonlyMap<string, TargetSource>;

  constructor(sources: ReadonlyMap<string, TargetSource>) {
    this.#sources = sources;
    this.names = new Set(sources.keys());
  }

  async find(wanted: Wanted): Promise<Targets> {
    const found = await Promise.all(
      Array.from(wanted, async ([name, texts]): Promise<[string, FieldTargets]> => {
        const source = this.#sources.get(name) as TargetSource;
        return [name, await findTargets(source, texts)];
      }),
    );
    return new Map(found);
  }
}

async function findTargets(source: TargetSource, texts: Iterable<string>): Promise<FieldTargets> {
  const { ids, names } = readIdentifiers(texts, source.model.schema.path("_id"));
  const found: FoundTargets = new Map();
  for (let start = 0; start < ids.length; start += MAX_IDS) {
    const some = await readTargets(source, ids.slice(start, start + MAX_IDS));
    for (const [name, target] of some) found.set(name, target);
  }
  return new Map(Array.from(names, ([text, name]) => [text, found.get(name) ?? null]));
}

const projections = new WeakMap<PopulateRule, Projection>();

/** Always the same object for a rule: what is made for a projection is made once. */
function projectionOf(rule: PopulateRule): Projection {
  let projection = projections.get(rule);
  if (projection === undefined) {
    const names = rule.select === undefined ? [] : ["_id", ...rule.select];
    projection = Object.fromEntries(names.map((name) => [name, 1]));
    projections.set(rule, projection);
  }
  return projection;
}
