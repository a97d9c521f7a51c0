import type { ClientSession, Model } from "mongoose";
import type { PipelineStage, Types } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../query/compile_filter.ts";
import { writeAsIs } from "../mapper/internals.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS, moveFilter } from "../selection/filters.ts";

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

/** An update of the database, by operator and path. */
export type Update = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Where an entity is stored: a document of a collection, or an object inside one. It is read and written from its root,
 * in one statement that says all that must hold on the way.
 */
export class Place {
  /** The model of the collection. */
  readonly model: Model<unknown>;
  readonly #id: unknown;
  readonly #scope: Filter;
  readonly #steps: readonly Step[];

  /**
   * @param model The model of the collection.
   * @param id The identifier of the document.
   * @param scope The scope of the document, cast.
   * @param steps The steps into it.
   */
  constructor(model: Model<unknown>, id: unknown, scope: Filter, steps: readonly Step[] = []) {
    this.model = model;
    this.#id = id;
    this.#scope = scope;
    this.#steps = steps;
  }

  /** Goes one step further in. */
  step(step: Step): Place {
    return new Place(this.model, this.#id, this.#scope, [...this.#steps, step]);
  }

  /** The path of a property of the entity, from the root, for an update. */
  path(property: string): string {
    return pathInto(this.#steps, property);
  }

  /** The stages of an aggregation that leads to the entity. */
  stages(): PipelineStage[] {
    const inner = this.#steps.flatMap(({ property, id, scope }): PipelineStage[] => {
      const match = everyFilter(id === undefined ? {} : { _id: id }, scope);
      return [
        ...intoStages(property, id !== undefined),
        ...isEmpty(match) ? [] : [{ $match: match }],
      ];
    });
    return [{ $match: everyFilter({ _id: this.#id }, this.#scope) }, ...inner];
  }

  /**
   * Updates the root document in one statement: its version goes up, and nothing is written unless all that leads to
   * the entity is still there and in its scope.
   *
   * @param update The update, its paths from the root.
   * @param condition What else must hold of the entity.
   * @throws {RestError} 409 if it does not hold any more.
   */
  async update(update: Update, condition: Filter, session?: ClientSession): Promise<void> {
    if (!await this.tryUpdate(update, condition, session)) throw conflict();
  }

  /** Updates like {@linkcode update}; `false` says that nothing held, and that nothing was written. */
  async tryUpdate(update: Update, condition: Filter, session?: ClientSession): Promise<boolean> {
    const key = this.model.schema.get("versionKey") as string | false | undefined;
    const version = typeof key === "string" ? { $inc: { ...update.$inc, [key]: 1 } } : {};
    const written = { ...update, ...version };
    const options = {
      ...KEEP_CONDITIONS,
      arrayFilters: this.#arrayFilters(),
      ...session && { session },
    };
    const query = this.model.updateOne(
      this.#conditions(condition),
      { ...written, $set: { ...this.#stamps(update), ...update.$set } } as never,
      options as never,
    );
    writeAsIs(query, written);
    const { matchedCount } = await query.exec();
    return matchedCount !== 0;
  }

  /** From the innermost step outwards: each element is named by its identifier, and bound by its scope. */
  #conditions(condition: Filter): Filter {
    const inner = this.#steps.reduceRight((rest: Filter, { property, id, scope }) => {
      if (id !== undefined) {
        return { [property]: { $elemMatch: everyFilter({ _id: id }, scope, rest) } };
      }
      const moved = [scope, rest].map((filter) => moveFilter(filter, property));
      return everyFilter({ [property]: { $type: "object" } }, ...moved);
    }, condition);
    return everyFilter({ _id: this.#id }, this.#scope, inner);
  }

  /** What is around a change is changed with it: the mapper tells so of the root alone. */
  #stamps(update: Update): Record<string, Date> {
    const written = Object.values(update).flatMap((paths) => Object.keys(paths));
    const stamps = this.#steps.flatMap(({ stamp }, index) =>
      stamp === undefined ? [] : [pathInto(this.#steps.slice(0, index + 1), stamp)]
    );
    const free = stamps.filter((path) =>
      written.length > 0 && !written.some((other) => `${path}.`.startsWith(`${other}.`))
    );
    return Object.fromEntries(free.map((path) => [path, new Date()]));
  }

  #arrayFilters(): Filter[] {
    return this.#steps.flatMap(({ id }, index) =>
      id === undefined ? [] : [{ [`e${index}._id`]: id }]
    );
  }
}

function pathInto(steps: readonly Step[], property: string): string {
  const names = steps.map((step, index) =>
    step.id === undefined ? step.property : `${step.property}.$[e${index}]`
  );
  return [...names, property].join(".");
}

/** The stages that lead into a property: to each element of an array, or to the one object. */
export function intoStages(property: string, array: boolean): PipelineStage[] {
  const into: PipelineStage[] = [{ $match: { [property]: { $type: "object" } } }, {
    $replaceRoot: { newRoot: `$${property}` },
  }];
  return array ? [{ $unwind: `$${property}` }, ...into] : into;
}
