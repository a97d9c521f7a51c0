import type { ClientSession, Model, PipelineStage } from "mongoose";
import type { Patience } from "../../database/patience.ts";
import { conflict } from "../../errors/refusals.ts";
import { matchAsIs } from "../../schema/mongoose/statements/match_as_is.ts";
import { stampFields, writeAsIs } from "../../schema/mongoose/internals.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { topOf } from "../../filter/fields_read.ts";
import { everyFilter, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { Update } from "../../write/apply_update.ts";
import { GuardedUpdate } from "./guarded_update.ts";
import type { MakeUpdate } from "./guarded_update.ts";
import { isSayable, namesInto, stepConditions, stepStages, touches } from "./place_steps.ts";
import type { Step } from "./place_steps.ts";

/** What a {@linkcode Place} is made of. */
export interface PlaceOptions {
  /** The model of the collection. */
  readonly model: Model<unknown>;
  /** The identifier of the document. */
  readonly id: unknown;
  /** The scope of the document, cast. */
  readonly scope: Filter;
  /** Bounds every statement. */
  readonly patience: Patience;
  /** The steps into it. */
  readonly steps?: readonly Step[];
}

/** How a place is updated. */
export interface UpdateOptions {
  /** What else must hold of the entity, cast. */
  readonly condition?: Filter;
  /** Whether the update takes the entity itself away: its own scope does not bind what is left. */
  readonly leaves?: boolean;
  /** The session of a transaction. */
  readonly session?: ClientSession | undefined;
}

/** How a place is rewritten. */
export interface RewriteOptions extends UpdateOptions {
  /** The property of the entity that the update changes. */
  readonly property: string;
}

/**
 * Where an entity is stored: a document of a collection, or an object inside one. It is read and written from its root,
 * in one statement that says all that must hold on the way.
 */
export class Place {
  readonly #options: Required<PlaceOptions>;

  constructor(options: PlaceOptions) {
    this.#options = { steps: [], ...options };
  }

  /** The model of the collection. */
  get model(): Model<unknown> {
    return this.#options.model;
  }

  /** Names the document among all of its connection. */
  get rootName(): string {
    return `${this.model.collection.name}/${this.#options.id}`;
  }

  /** Goes one step further in. */
  step(step: Step): Place {
    return new Place({ ...this.#options, steps: [...this.#options.steps, step] });
  }

  /** The path of a property of the entity, from the root, for an update. */
  path(property: string): string {
    return [...namesInto(this.#options.steps), property].join(".");
  }

  /** The stages of an aggregation that leads to the entity. */
  stages(): PipelineStage[] {
    const { id, scope, steps } = this.#options;
    return [{ $match: everyFilter({ _id: id }, scope) }, ...stepStages(steps)];
  }

  /**
   * Updates the root document in one statement: its version goes up, and nothing is written unless all that leads to
   * the entity is still there and in its scope, and stays in it.
   *
   * @param update The update, its paths from the root.
   * @throws {RestError} 409 if it does not hold any more, 403 if the update leaves a scope on the way.
   */
  async update(update: Update, options: UpdateOptions = {}): Promise<void> {
    if (!await this.tryUpdate(update, options)) throw conflict();
  }

  /** Updates like {@linkcode update}; `false` says that something did not hold, and that nothing was written. */
  async tryUpdate(update: Update, options: UpdateOptions = {}): Promise<boolean> {
    if (!this.isGuarded(update, options)) {
      const send = () => this.#send(update, {}, options);
      return await send() || (await this.#makeLists(options) && await send());
    }
    // All paths of an update are below one property, whose name comes first.
    const [path = "_id"] = writtenPaths(update);
    return await this.rewrite(() => update, { ...options, property: topOf(path) });
  }

  /**
   * Updates like {@linkcode tryUpdate}, with an update that depends on what is stored.
   *
   * @param make Makes the update, which is written only if nothing that was read has changed meanwhile.
   * @param options Its `property` names what the update changes.
   */
  async rewrite(make: MakeUpdate, options: RewriteOptions): Promise<boolean> {
    const run = () => this.#rewrite(make, options);
    return await run() || (await this.#makeLists(options) && await run());
  }

  async #rewrite(make: MakeUpdate, options: RewriteOptions): Promise<boolean> {
    const { steps, ...root } = this.#options;
    const { condition = {}, session, property, leaves } = options;
    const around = leaves ? new Place({ ...root, steps: steps.slice(0, -1) }) : this;
    return await new GuardedUpdate({
      ...root,
      fields: [steps[0]?.property ?? property],
      make,
      before: [...this.stages(), { $match: condition }],
      after: around.stages(),
      elements: Object.fromEntries(steps.map(({ id }, index) => [`e${index}`, id])),
      whole: (update) => this.#whole(update),
      send: (update, conditions) => this.#send(update, conditions, options),
      name: this.rootName,
      session,
    }).run();
  }

  /** Makes lists of the single objects on the way that stand in the place of one; tells whether there were any. */
  async #makeLists({ session }: UpdateOptions): Promise<boolean> {
    const { steps, ...root } = this.#options;
    for (const [index, { property, id }] of steps.entries()) {
      if (id === undefined) continue;
      const outer = new Place({ ...root, steps: steps.slice(0, index) });
      const make: MakeUpdate = ({ [property]: stored }) =>
        isJsonObject(stored) ? { $set: { [outer.path(property)]: [stored] } } : undefined;
      if (await outer.#rewrite(make, { property, session })) return true;
    }
    return false;
  }

  /** Whether one statement cannot say all that must hold, or the update may leave a scope on the way. */
  isGuarded(update: Update, options: UpdateOptions): boolean {
    const { scope, steps } = this.#options;
    const paths = writtenPaths(this.#whole(update));
    return !this.#isSaid(options) || touches(paths, { scope, into: [] }) ||
      steps.some((step, index) =>
        touches(paths, { scope: step.scope, into: namesInto(steps.slice(0, index + 1)) })
      );
  }

  #isSaid({ condition = {} }: UpdateOptions): boolean {
    return [...this.#options.steps.map(({ scope }) => scope), condition].every(isSayable);
  }

  async #send(
    update: Update,
    pins: Filter,
    { condition = {}, session }: UpdateOptions,
  ): Promise<boolean> {
    const { model, id, scope, steps, patience } = this.#options;
    const written = this.#counted(update);
    const options = {
      ...KEEP_CONDITIONS,
      arrayFilters: steps.flatMap((step, index) =>
        step.id === undefined ? [] : [{ [`e${index}._id`]: step.id }]
      ),
      ...patience.statement(session),
    };
    const query = model.updateOne(
      { _id: id },
      { ...written, $set: { ...this.#stamps(update), ...update.$set } } as never,
      options as never,
    );
    const said = isSayable(condition) || steps.length === 0 ? condition : {};
    matchAsIs(query, everyFilter(scope, stepConditions(steps, said), pins));
    writeAsIs(query, written);
    const { matchedCount } = await query.exec();
    return matchedCount !== 0;
  }

  /** The update, and the version of the root that it counts. */
  #counted(update: Update): Update {
    const key = this.model.schema.get("versionKey") as string | false | undefined;
    return typeof key === "string" ? { ...update, $inc: { ...update.$inc, [key]: 1 } } : update;
  }

  /** The update, and all that is written with it. */
  #whole(update: Update): Update {
    const { updatedAt } = stampFields(this.model.schema);
    const stamps = { ...this.#stamps(update), ...updatedAt && { [updatedAt]: new Date() } };
    if (Object.keys(stamps).length === 0) return this.#counted(update);
    return { ...this.#counted(update), $set: { ...stamps, ...update.$set } };
  }

  /** What is around a change is changed with it: Mongoose tells so of the root alone. */
  #stamps(update: Update): Record<string, Date> {
    const { steps } = this.#options;
    const written = writtenPaths(update);
    const stamps = steps.flatMap(({ stamp }, index) =>
      stamp === undefined ? [] : [[...namesInto(steps.slice(0, index + 1)), stamp].join(".")]
    );
    const free = stamps.filter((path) =>
      written.length > 0 && !written.some((other) => `${path}.`.startsWith(`${other}.`))
    );
    return Object.fromEntries(free.map((path) => [path, new Date()]));
  }
}

function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}
