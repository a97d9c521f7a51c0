import type { PipelineStage, Types } from "mongoose";
import { everyFilter, fieldsRead, isEmpty, moveFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";

/** A step from a document into an object that it embeds. */
export interface Step {
  readonly property: string;
  /** The identifier of the element, where the property is an array. */
  readonly id?: Types.ObjectId;
  /** The scope that binds what is embedded, cast. */
  readonly scope: Filter;
  /** The field that tells when what is embedded was changed, where there is one. */
  readonly stamp?: string;
}

/** What is stored as an object: `$type` alone also matches a list with an object in it. */
const IS_OBJECT = { $type: "object", $not: { $type: "array" } } as const;

/** The names on the way into the innermost step, elements named by array filters. */
export function namesInto(steps: readonly Step[]): string[] {
  return steps.map(({ property, id }, index) =>
    id === undefined ? property : `${property}.$[e${index}]`
  );
}

/** The identifier of the element that each array filter names. */
export function elementIds(steps: readonly Step[]): Record<string, unknown> {
  return Object.fromEntries(
    steps.flatMap(({ id }, index) => id === undefined ? [] : [[`e${index}`, id]]),
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

/** The condition on a document for all that must hold on the way, and at its end, without what is not expressible. */
export function stepConditions(steps: readonly Step[], condition: Filter): Filter {
  return steps.reduceRight((rest: Filter, { property, id, scope }) => {
    const bound = everyFilter(...[scope, rest].filter(isExpressible));
    if (id !== undefined) return { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
    return everyFilter({ [property]: IS_OBJECT }, moveFilter(bound, property));
  }, condition);
}

/** Whether a filter on an object can be expressed as a condition on the document around it. */
export function isExpressible(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}

/** Whether a change of paths, given from the root, may change what a scope reads. */
export function touches(
  paths: readonly string[],
  { scope, steps }: { readonly scope: Filter; readonly steps: readonly Step[] },
): boolean {
  if (isEmpty(scope)) return false;
  const prefix = namesInto(steps).map((name) => `${name}.`).join("");
  const below = paths.filter((path) => path.startsWith(prefix)).map((path) =>
    path.slice(prefix.length).split(".", 1)[0] as string
  );
  const read = fieldsRead(scope);
  return read === undefined ? below.length > 0 : below.some((name) => read.has(name));
}
