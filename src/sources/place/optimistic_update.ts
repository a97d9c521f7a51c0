import type { PipelineStage } from "mongoose";
import { takeTurns } from "../../database/take_turns.ts";
import { outOfReach } from "../../errors/refusals.ts";
import { everyFilter, fieldsRead } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { applyUpdate } from "../../write/apply_update.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import type { StoredObject } from "../../write/apply_update.ts";
import { sameAsStored } from "../../write/save/same_as_stored.ts";
import { AS_STORED, askStored } from "./ask_stored.ts";
import type { Place } from "./place.ts";
import { completeUpdate, sendUpdate } from "./send_update.ts";
import type { SendOptions } from "./send_update.ts";
import { elementIds } from "./steps.ts";

/** How often an update is tried when others change what it depends on. */
const MAX_ATTEMPTS = 20;

/** Makes an update of an entity as it is stored; `undefined` writes nothing. */
export type MakeUpdate = (entity: StoredObject) => Promise<Update | undefined> | Update | undefined;

export interface OptimisticUpdateOptions extends Omit<SendOptions, "pins"> {
  /** The property that the update changes, where the entity is a whole document. */
  readonly property?: string;
  /** Whether the update removes the entity itself: its own scope does not bind what is left. */
  readonly removesEntity?: boolean | undefined;
}

/**
 * An update that depends on what is stored. It reads the document, has the database judge what the update would make of
 * it, and writes only if nothing that was read has changed meanwhile.
 */
export class OptimisticUpdate {
  readonly #place: Place;
  readonly #make: MakeUpdate;
  readonly #options: OptimisticUpdateOptions;

  constructor(place: Place, make: MakeUpdate, options: OptimisticUpdateOptions) {
    this.#place = place;
    this.#make = make;
    this.#options = options;
  }

  /**
   * Runs the update.
   *
   * @returns `false` if nothing leads to the entity, there was nothing to write, or others were faster each time.
   * @throws {RestError} 403 if the document, or what leads to the entity, would be outside its scope.
   */
  async run(): Promise<boolean> {
    const { model, rootName: name, timeBudget } = this.#place;
    // A transaction has its turn already.
    if (this.#options.session !== undefined) return await this.#try();
    return await takeTurns({ owner: model.db.getClient(), name, timeBudget }, () => this.#try());
  }

  async #try(): Promise<boolean> {
    const { condition = {}, session, keepsVersion } = this.#options;
    for (let tries = 1; tries <= MAX_ATTEMPTS; tries++) {
      const root = await this.#read();
      const stages = [...this.#place.stages(), { $match: condition }];
      const entity = root && await this.#follow(root, stages);
      const update = entity && await this.#make(entity);
      if (root === undefined || update === undefined) return false;
      await this.#judge(root, update);
      const pins = this.#unchanged(root);
      const bound = { condition, pins, session, keepsVersion };
      if (await sendUpdate(this.#place, update, bound)) return true;
    }
    return false;
  }

  async #read(): Promise<StoredObject | undefined> {
    const { model, id, scope, version } = this.#place;
    const { session } = this.#options;
    const fields = this.#judged();
    const stages = [
      { $match: everyFilter({ _id: id }, scope, version) },
      ...fields ? [{ $project: Object.fromEntries(fields.map((field) => [field, 1])) }] : [],
    ];
    const options = { ...AS_STORED, ...this.#timeLimit(), ...session && { session } };
    const [root] = await model.collection.aggregate(stages as never, options as never).toArray();
    return root;
  }

  /** Refuses an update after which the scopes on the way would not lead to the entity. */
  async #judge(root: StoredObject, update: Update): Promise<void> {
    const written = completeUpdate(this.#place, update);
    const elements = elementIds(this.#place.steps);
    const left = this.#options.removesEntity ? this.#place.upTo(-1) : this.#place;
    const result = applyUpdate(root, { update: written, elements });
    if (await this.#follow(result, left.stages()) === undefined) throw outOfReach();
  }

  async #follow(
    root: StoredObject,
    stages: readonly PipelineStage[],
  ): Promise<StoredObject | undefined> {
    const [entity] = await askStored(this.#place.model, { root, stages, ...this.#timeLimit() });
    return entity;
  }

  #timeLimit(): { readonly maxTimeMS: number } {
    return { maxTimeMS: Math.max(1, Math.ceil(this.#place.timeBudget.left)) };
  }

  /** The condition that what was judged is stored as it was. */
  #unchanged(root: StoredObject): Filter {
    const fields = this.#judged();
    if (fields === undefined) return { $expr: sameAsStored("$$ROOT", { value: root }) };
    const same = fields.map((field) =>
      Object.hasOwn(root, field)
        ? sameAsStored(`$${field}`, { value: root[field] })
        : { $eq: [{ $type: `$${field}` }, "missing"] }
    );
    return { $expr: { $and: same } };
  }

  /** The fields that are read: those of the scope, and the one that is written; `undefined` for the whole document. */
  #judged(): string[] | undefined {
    const { scope, steps: [step] } = this.#place;
    const read = fieldsRead(scope);
    return read &&
      [...new Set(["_id", ...read, step?.property ?? this.#options.property ?? "_id"])];
  }
}
