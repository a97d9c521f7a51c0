import type { ClientSession, Connection, Document } from "mongoose";
import { inTransaction } from "../database/in_transaction.ts";
import { badData } from "../errors/bad_data.ts";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../filter/q/compile_filter.ts";
import { CollectionSource } from "./collection_source.ts";
import type { CollectionSourceOptions, Together } from "./collection_source.ts";
import { everyFilter } from "../filter/filters.ts";
import type { Update } from "../write/apply_update.ts";
import { OutOfScopeError } from "./parts/out_of_scope_error.ts";
import type { Place } from "./parts/place.ts";
import { addToList, takeFromList } from "./parts/stored_list.ts";

/** What a {@linkcode ReferenceSource} is made of. */
export interface ReferenceSourceOptions extends CollectionSourceOptions {
  /** Where the parent is stored. */
  readonly parent: Place;
  /** The property of the parent that holds the identifiers. */
  readonly property: string;
  /** Whether the property is an array. */
  readonly array: boolean;
  /** Whether the parent must have it. */
  readonly required: boolean;
  /** The identifiers that the parent holds. */
  readonly ids: readonly unknown[];
}

/**
 * The source of what a parent refers to: the entities of a collection whose identifiers the parent holds. An entity and
 * its identifier are written together, or in the order that can leave an orphan but never a dangling reference.
 */
export class ReferenceSource extends CollectionSource {
  readonly #link: ReferenceSourceOptions;

  constructor(options: ReferenceSourceOptions) {
    super(options);
    this.#link = options;
  }

  override async removeMany(ids: readonly unknown[]): Promise<void> {
    if (ids.length === 0) return;
    this.#refuseRequired();
    const together: Together = (remove) =>
      this.#together(async (session) => {
        await this.#unlink(ids, session);
        await remove(session);
      });
    await this.#link.patience.wait(this.dropMany(ids, { together }));
  }

  override async removeSelected(): Promise<void> {
    await this.removeMany(await this.selectedIds());
  }

  /** An entity and its identifier come and go together: one statement would leave the other behind. */
  override insert(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  /** See {@linkcode insert}. */
  override removeById(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  protected override conditions(): Filter {
    return everyFilter({ _id: { $in: this.#link.ids } }, super.conditions());
  }

  protected override isNamed(id: string): boolean {
    return this.#link.array ? super.isNamed(id) : true;
  }

  protected override naming(id: string): Filter {
    return this.#link.array ? super.naming(id) : {};
  }

  protected override async store(doc: Document): Promise<boolean> {
    return await super.store(doc, async (insert) => {
      const vacant = await this.#vacancy();
      await this.#together(async (session) => {
        // The parent comes first in a transaction: who meets another there has written nothing in vain.
        if (session !== undefined) await this.#linkTo(doc, vacant, session);
        await insert(session);
        if (session === undefined) await this.#linkTo(doc, vacant, session);
      });
    });
  }

  protected override async drop(doc: Document): Promise<void> {
    this.#refuseRequired();
    await super.drop(doc, (remove) =>
      this.#together(async (session) => {
        await this.#unlink([doc._id], session);
        await remove(session);
      }));
  }

  /**
   * Says what must hold of the parent for a new entity: where it can have only one, none is there. An identifier that
   * leads nowhere is none.
   *
   * @throws {RestError} 409 if one is there.
   */
  async #vacancy(): Promise<Filter> {
    const { model, array, property, ids: [held] } = this.#link;
    if (array) return {};
    if (held === undefined) return { [property]: null };
    if (await (await model()).exists({ _id: held }) !== null) throw conflict();
    return { [property]: held };
  }

  /** An error leaves the entity where it is, unless it says that the identifier was not written. */
  async #linkTo(doc: Document, vacant: Filter, session: ClientSession | undefined): Promise<void> {
    let refusal = conflict();
    try {
      if (await this.#tryLink(doc, vacant, session)) return;
    } catch (error) {
      if (!(error instanceof OutOfScopeError)) throw error;
      refusal = error;
    }
    // Outside a transaction the entity is stored already: nothing refers to it, so it can go.
    if (session === undefined) await this.dropMany([doc._id], { filter: {} });
    throw refusal;
  }

  async #tryLink(doc: Document, vacant: Filter, session?: ClientSession): Promise<boolean> {
    const { parent, property, array } = this.#link;
    if (array) return await addToList(parent, { property, value: doc._id, session });
    const update: Update = { $set: { [parent.path(property)]: doc._id } };
    return await parent.tryUpdate(update, { condition: vacant, session });
  }

  async #unlink(ids: readonly unknown[], session: ClientSession | undefined): Promise<void> {
    const { parent, property, array } = this.#link;
    const update: Update = { $unset: { [parent.path(property)]: 1 } };
    const isUnlinked = array
      ? await takeFromList(parent, { property, values: ids, session })
      : await parent.tryUpdate(update, { condition: { [property]: ids[0] }, session });
    if (!isUnlinked) throw conflict();
  }

  #refuseRequired(): void {
    const { required, array, property } = this.#link;
    if (!required || array) return;
    throw badData({ [property]: { message: `Field "${property}" is required`, kind: "required" } });
  }

  #together(writes: (session?: ClientSession) => Promise<void>): Promise<void> {
    const { parent, patience } = this.#link;
    const connection = parent.model.db as Connection;
    return inTransaction({ connection, contended: parent.rootName, patience }, writes);
  }
}
