import type { PipelineStage, Types } from "mongoose";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { fieldsRead } from "../../filter/fields_read.ts";
import { everyFilter, isEmpty, moveFilter } from "../../filter/filters.ts";

/** A step from a document into an object that it embeds. */
export interface Step {
  /** The property. */
  readonly property: string;
  /** The identifier of the element, where the property is an array. */
  readonly id?: Types.ObjectId;
  /** The scope that binds what is embedded, cast. */
  readonly scope: Filter;
  /** The field that tells when what is embedded was changed, where there is one. */
  readonly stamp?: string;
}

/** What is stored as an object: the database takes a list for one if one of its elements is. */
export const IS_OBJECT = { $type: "object", $not: { $type: "array" } } as const;

/** The names on the way into the innermost step, elements named by array filters. */
export function namesInto(steps: readonly Step[]): string[] {
  return steps.map((step, index) =>
    step.id === undefined ? step.property : `${step.property}.$[e${index}]`
  );
}

/** The stages that lead into a property: to each element of an array, or to the one object. */
export function intoStages(property: string, array: boolean): PipelineStage[] {
  const into = [{ $match: { [property]: IS_OBJECT } }, {
    $replaceRoot: { newRoot: `$${property}` },
  }] as PipelineStage[];
  return array ? [{ $unwind: `$${property}` }, ...into] : into;
}

/** The stages that lead through steps, each element named by its identifier and bound by its scope. */
export function stepStages(steps: readonly Step[]): PipelineStage[] {
  return steps.flatMap(({ property, id, scope }): PipelineStage[] => {
    const match = everyFilter(id === undefined ? {} : { _id: id }, scope);
    return [
      ...intoStages(property, id !== undefined),
      ...isEmpty(match) ? [] : [{ $match: match }],
    ];
  });
}

/**
 * The condition on a document that says what must hold on the way, and of what is at its end. What cannot be asked
 * inside a document is left out: see {@linkcode isSayable}.
 */
export function stepConditions(steps: readonly Step[], condition: Filter): Filter {
  return steps.reduceRight((rest: Filter, { property, id, scope }) => {
    const bound = everyFilter(...[scope, rest].filter(isSayable));
    if (id !== undefined) return { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
    return everyFilter({ [property]: IS_OBJECT }, moveFilter(bound, property));
  }, condition);
}

/** Whether a filter can be asked of an object inside a document. */
export function isSayable(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}

/** Tells whether a change of paths, given from the root, touches what a scope at the end of some names reads. */
export function touches(
  paths: readonly string[],
  { scope, into }: { readonly scope: Filter; readonly into: readonly string[] },
): boolean {
  if (isEmpty(scope)) return false;
  const prefix = into.map((name) => `${name}.`).join("");
  const below = paths.filter((path) => path.startsWith(prefix)).map((path) =>
    path.slice(prefix.length).split(".", 1)[0] as string
  );
  const read = fieldsRead(scope);
  return read === undefined ? below.length > 0 : below.some((name) => read.has(name));
}
