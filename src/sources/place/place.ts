import type { Model, PipelineStage } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import { everyFilter } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { namesInto, stepStages } from "./steps.ts";
import type { Step } from "./steps.ts";

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

  /** The path of a property of the entity, from the root, for an update. */
  path(property: string): string {
    return [...namesInto(this.steps), property].join(".");
  }

  /** The stages of an aggregation that leads to the entity. */
  stages(): PipelineStage[] {
    return [
      { $match: everyFilter({ _id: this.id }, this.scope) },
      ...stepStages(this.steps),
    ];
  }
}
