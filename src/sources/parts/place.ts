import type { Connection, Model, PipelineStage, Types } from "mongoose";
import type { TransactionOptions } from "../../database/in_transaction.ts";
import type { TimeBudget } from "../../database/time_budget.ts";
import { everyFilter, fieldsRead, moveFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { versionKey } from "../../schema/fields/system_fields.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";

export interface Step {
  readonly property: string;
  /** The identifier of the element, where the property is an array. */
  readonly id?: Types.ObjectId;
  /** The scope that binds the embedded object, cast. */
  readonly scope: Filter;
}

export interface Place {
  readonly model: Model<unknown>;
  readonly id: unknown;
  /** The scope of the document, cast. */
  readonly scope: Filter;
  /** The versions of the document that a write may change; all where it is missing. */
  readonly version?: Filter | undefined;
  readonly timeBudget: TimeBudget;
  readonly steps: readonly Step[];
}

/** Names the document, on which transactions and checked writes of this process take turns. */
export function turnAt({ model, id, timeBudget }: Place): TransactionOptions {
  const turn = `${model.collection.name}/${id}`;
  return { connection: model.db as Connection, turn, isContended: true, timeBudget };
}

export function stagesTo({ id: root, scope: outer, steps }: Place): PipelineStage[] {
  return [
    { $match: everyFilter({ _id: root }, outer) },
    ...steps.flatMap(({ property, id, scope }) => [
      ...intoStages(property, id !== undefined),
      { $match: everyFilter(id === undefined ? {} : { _id: id }, scope) },
    ]),
  ];
}

/** The condition on the document that a statement can express: the scopes on the way, and a condition on the entity. */
export function conditionsOf({ scope, version, steps }: Place, condition: Filter): Filter {
  const inside = steps.reduceRight((rest: Filter, { property, id, scope }) => {
    const bound = everyFilter(...[scope, rest].filter(isExpressible));
    return id === undefined
      ? insideOf(property, bound)
      : { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
  }, condition);
  return everyFilter(scope, version, inside);
}

export function insideOf(property: string, filter: Filter): Filter {
  return everyFilter({ [property]: IS_OBJECT }, moveFilter(filter, property));
}

/** Whether all scopes on the way can be conditions on the document, and a change of some fields changes nothing they read. */
export function keepsScopes(
  { model, scope, steps }: Pick<Place, "model" | "scope" | "steps">,
  fields: readonly string[],
): boolean {
  const { updatedAt } = stampFields(model.schema);
  const stamps = [updatedAt, versionKey(model)];
  return [{ scope }, ...steps].every(({ scope }, index) => {
    const read = fieldsRead(scope);
    const inner = steps[index]?.property;
    const written = inner === undefined ? fields : [inner];
    const changed = index === 0 ? [...stamps, ...written] : written;
    return read !== undefined && !changed.some((field) => field && read.has(field));
  });
}

/** Matches a stored object: `$type` alone also matches a list with an object in it. */
const IS_OBJECT = { $type: "object", $not: { $type: "array" } } as const;

/** The stages that lead into a property: to each element of an array, or to the one object. */
export function intoStages(property: string, array: boolean): PipelineStage[] {
  const into = [{ $match: { [property]: IS_OBJECT } }, {
    $replaceRoot: { newRoot: `$${property}` },
  }] as PipelineStage[];
  return array ? [{ $unwind: `$${property}` }, ...into] : into;
}

export function isExpressible(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}
