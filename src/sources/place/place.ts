import type { Model, PipelineStage, Types } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import { everyFilter, fieldsRead, isEmpty, moveFilter, topOf } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";

/** A step from a document into an object that it embeds. */
export interface Step {
  readonly property: string;
  /** The identifier of the element, where the property is an array. */
  readonly id?: Types.ObjectId;
  /** The scope that binds the embedded object, cast. */
  readonly scope: Filter;
  /** The field with the time of the last change of the embedded object, where there is one. */
  readonly stamp?: string;
}

type PlaceOptions =
  & Pick<Place, "model" | "id" | "scope" | "timeBudget">
  & Partial<Pick<Place, "steps" | "version" | "isCounted">>;

/** Where an entity is stored: a document of a collection, or an object inside one. */
export class Place {
  readonly model: Model<unknown>;
  readonly id: unknown;
  /** The scope of the document, cast. */
  readonly scope: Filter;
  readonly timeBudget: TimeBudget;
  /** The versions of the document that a write may change. */
  readonly version: Filter;
  /** Whether the document was read with a version. */
  readonly isCounted: boolean;
  readonly steps: readonly Step[];

  constructor({ version = {}, isCounted = false, steps = [], ...given }: PlaceOptions) {
    this.model = given.model;
    this.id = given.id;
    this.scope = given.scope;
    this.timeBudget = given.timeBudget;
    this.version = version;
    this.isCounted = isCounted;
    this.steps = steps;
  }

  /** Names the document among all of its connection. */
  get rootName(): string {
    return `${this.model.collection.name}/${this.id}`;
  }

  step(step: Step): Place {
    return new Place({ ...this, steps: [...this.steps, step] });
  }

  /** The same place in a document that was read, for writes that may change only some versions of it. */
  boundTo({ version, isCounted }: Pick<Place, "version" | "isCounted">): Place {
    return new Place({ ...this, version, isCounted });
  }

  /** The place that the first steps lead to; a negative number leaves out the last ones. */
  upTo(steps: number): Place {
    return new Place({ ...this, steps: this.steps.slice(0, steps) });
  }

  /** The path of a property of the entity, from the root, for an update. Array filters name the elements on the way. */
  path(property: string): string {
    const names = this.steps.map((step, index) =>
      step.id === undefined ? step.property : `${step.property}.$[e${index}]`
    );
    return [...names, property].join(".");
  }

  /** The identifier of the element that each array filter names. */
  elementIds(): Record<string, unknown> {
    return Object.fromEntries(
      this.steps.flatMap(({ id }, index) => id === undefined ? [] : [[`e${index}`, id]]),
    );
  }

  /** The stages of an aggregation that leads to the entity. */
  stages(): PipelineStage[] {
    return [
      { $match: everyFilter({ _id: this.id }, this.scope) },
      ...this.steps.flatMap(({ property, id, scope }) => [
        ...intoStages(property, id !== undefined),
        ...matchStage(everyFilter(id === undefined ? {} : { _id: id }, scope)),
      ]),
    ];
  }

  /** The condition on the document that a statement can express: the scopes on the way, and a condition on the entity. */
  conditions(condition: Filter): Filter {
    const inside = this.steps.reduceRight((rest: Filter, { property, id, scope }) => {
      const bound = everyFilter(...[scope, rest].filter(isExpressible));
      if (id !== undefined) return { [property]: { $elemMatch: everyFilter({ _id: id }, bound) } };
      return everyFilter({ [property]: IS_OBJECT }, moveFilter(bound, property));
    }, condition);
    return everyFilter(this.scope, this.version, inside);
  }

  /** Whether all scopes on the way can be expressed as conditions on the document, and no update of paths changes them. */
  keepsScopes(paths: readonly string[]): boolean {
    return !touches(paths, this.scope) &&
      this.steps.every(({ scope }, index) => {
        const prefix = this.upTo(index + 1).path("");
        const below = paths.filter((path) => path.startsWith(prefix));
        return isExpressible(scope) &&
          !touches(below.map((path) => path.slice(prefix.length)), scope);
      });
  }
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

export function matchStage(filter: Filter): PipelineStage[] {
  return isEmpty(filter) ? [] : [{ $match: filter }];
}

/** Whether a filter on an object can be expressed as a condition on the document around it. */
export function isExpressible(filter: Filter): boolean {
  return fieldsRead(filter) !== undefined;
}

/** Whether a change of paths may change what a scope reads. */
function touches(paths: readonly string[], scope: Filter): boolean {
  if (isEmpty(scope)) return false;
  const read = fieldsRead(scope);
  return read === undefined ? paths.length > 0 : paths.some((path) => read.has(topOf(path)));
}
