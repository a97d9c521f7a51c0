import type { ClientSession, Model, PipelineStage } from "mongoose";
import type { Patience } from "../../database/patience.ts";
import { takeTurns } from "../../database/take_turns.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { fieldsRead } from "../../filter/fields_read.ts";
import { everyFilter } from "../../filter/filters.ts";
import { applyUpdate } from "../../write/apply_update.ts";
import type { StoredObject, Update } from "../../write/apply_update.ts";
import { AS_STORED, askStored } from "./ask_stored.ts";
import { sameAsStored } from "./same_as_stored.ts";
import { OutOfScopeError } from "./out_of_scope_error.ts";

/** How often an update is tried that meets a change of what it depends on. */
const MOST_TRIES = 20;

/** Makes an update of an entity as it is stored; `undefined` writes nothing. */
export type MakeUpdate = (entity: StoredObject) => Promise<Update | undefined> | Update | undefined;

/** What a {@linkcode GuardedUpdate} is made of. */
export interface GuardedUpdateOptions {
  /** The model of the collection. */
  readonly model: Model<unknown>;
  /** The identifier of the document. */
  readonly id: unknown;
  /** The scope of the document, cast. */
  readonly scope: Filter;
  /** The fields of the document that lead to the entity, or are written. */
  readonly fields: readonly string[];
  /** Makes the update. */
  readonly make: MakeUpdate;
  /** The stages that lead to the entity, with all that must hold of it before. */
  readonly before: readonly PipelineStage[];
  /** The stages that must still lead somewhere afterwards. */
  readonly after: readonly PipelineStage[];
  /** The identifier of the element that each array filter names. */
  readonly elements: Readonly<Record<string, unknown>>;
  /** Gives an update with all that is written with it. */
  readonly whole: (update: Update) => Update;
  /** Writes an update if conditions hold besides its own; tells whether they did. */
  readonly send: (update: Update, conditions: Filter) => Promise<boolean>;
  /** Names the document among all of its connection. */
  readonly name: string;
  /** Bounds the waits. */
  readonly patience: Patience;
  /** The session of a transaction. */
  readonly session: ClientSession | undefined;
}

/**
 * An update of a document that depends on what is stored: the database judges what the update would make of the
 * document, and the statement is written only if nothing that was judged has changed meanwhile.
 */
export class GuardedUpdate {
  readonly #options: GuardedUpdateOptions;

  constructor(options: GuardedUpdateOptions) {
    this.#options = options;
  }

  /**
   * Runs the update.
   *
   * @returns Whether it was written; `false` says that nothing leads to the entity, or that others were faster each time.
   * @throws {RestError} 403 if the document, or what leads to the entity, would be outside its scope.
   */
  async run(): Promise<boolean> {
    const { model, name, patience, session } = this.#options;
    // A transaction has its turn already, and repeats what clashes in its own way.
    if (session !== undefined) return await this.#try();
    return await takeTurns({ owner: model.db.getClient(), name, patience }, () => this.#try());
  }

  async #try(): Promise<boolean> {
    const { before, after, elements, make, whole, send } = this.#options;
    for (let tries = 1; tries <= MOST_TRIES; tries++) {
      const root = await this.#read();
      const entity = root && await this.#follow(root, before);
      const update = entity && await make(entity);
      if (root === undefined || update === undefined) return false;
      const result = applyUpdate(root, { update: whole(update), elements });
      if (await this.#follow(result, after) === undefined) throw new OutOfScopeError();
      if (await send(update, this.#unchanged(root))) return true;
    }
    return false;
  }

  /** Reads what is judged of the document: the fields that its scope reads, and those that lead to the entity. */
  async #read(): Promise<StoredObject | undefined> {
    const { model, id, scope, session } = this.#options;
    const fields = this.#judged();
    const stages = [
      { $match: everyFilter({ _id: id }, scope) },
      ...fields ? [{ $project: Object.fromEntries(fields.map((field) => [field, 1])) }] : [],
    ];
    const options = { ...AS_STORED, ...this.#bound(), ...session && { session } };
    const [root] = await model.collection.aggregate(stages as never, options as never).toArray();
    return root;
  }

  async #follow(
    root: StoredObject,
    stages: readonly PipelineStage[],
  ): Promise<StoredObject | undefined> {
    const [entity] = await askStored(this.#options.model, { root, stages, ...this.#bound() });
    return entity;
  }

  /** The time that the database may take for a read. */
  #bound(): { readonly maxTimeMS: number } {
    return { maxTimeMS: Math.max(1, Math.ceil(this.#options.patience.left)) };
  }

  /** The condition that what was judged is stored as it was. */
  #unchanged(root: StoredObject): Filter {
    const fields = this.#judged();
    if (fields === undefined) return { $expr: sameAsStored("$$ROOT", root) };
    const same = fields.map((field) =>
      Object.hasOwn(root, field)
        ? sameAsStored(`$${field}`, root[field])
        : { $eq: [{ $type: `$${field}` }, "missing"] }
    );
    return { $expr: { $and: same } };
  }

  /** The fields that are judged; `undefined` for the whole document. */
  #judged(): string[] | undefined {
    const { scope, fields } = this.#options;
    const read = fieldsRead(scope);
    return read && [...new Set(["_id", ...read, ...fields])];
  }
}
