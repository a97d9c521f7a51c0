import type { Document, Model } from "mongoose";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../filter/filters.ts";
import { findKept } from "../schema/mongoose/statements/find_kept.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter } from "../filter/filters.ts";
import { readOptions } from "../filter/read_options.ts";
import { documentOf, identifierOf } from "./entities.ts";
import { isNarrowed, uncovered } from "../filter/projection.ts";
import { byIdentifier } from "../schema/fields/identifier.ts";
import {
  countSelected,
  pageOptions,
  readIds,
  readListed,
  readStoredValues,
  wholeProjection,
} from "./collection_reads.ts";
import type { StoredObject } from "../write/apply_update.ts";
import { CollectionWrites } from "./collection_writes.ts";
import type { CollectionWritesOptions } from "./collection_writes.ts";
import { DirectCollection } from "./direct/direct_collection.ts";
import type { DirectResult } from "./direct/direct_collection.ts";
import { planDirect } from "./direct/direct_plan.ts";
import { directVerdict } from "./direct/verdict.ts";
import type { OpenCollection } from "./direct/direct_plan.ts";
import { confirmIndexes } from "./page_bounds.ts";
import { Place } from "./place/place.ts";
import type { DirectCall, EntityValue, ListRead, PageRead, Source } from "./source.ts";

const DELETE_BATCH = 1000;

export type CollectionSourceOptions =
  & CollectionWritesOptions
  & Omit<OpenCollection, "model" | "conditions">;

export class CollectionSource implements Source {
  readonly #options: CollectionSourceOptions;
  protected readonly writes: CollectionWrites;

  constructor(options: CollectionSourceOptions) {
    this.#options = options;
    this.writes = new CollectionWrites(options);
  }

  async *list({ forChange = false, page }: ListRead): AsyncIterable<readonly EntityValue[]> {
    const collection = await this.#open(false, page);
    const options = { ...this.#readOptions(), ...page && pageOptions(page) };
    const lean = options.lean === true && !forChange;
    const plan = lean ? planDirect({ operation: "all", lean, page }, collection) : undefined;
    if (plan?.operation === "all") return yield* new DirectCollection(collection).values(plan);
    const query = { projection: this.#projection(forChange), options: { ...options, lean }, page };
    yield* readListed(collection, query);
  }

  async storedValues(id: string, paths: readonly string[]): Promise<StoredObject | undefined> {
    const collection = await this.#open(true);
    const named = this.idFilter(id);
    const conditions = named && everyFilter(named, collection.conditions);
    return conditions && await readStoredValues(collection, { conditions, paths });
  }

  async count(upTo?: number): Promise<number> {
    return await this.#options.timeBudget.wait(countSelected(await this.#open(), upTo));
  }

  async pageEnd(id: string): Promise<StoredObject | undefined> {
    return directVerdict(await this.#options.model(), this.#options.shape).reads?.ends.find(id);
  }

  async direct(
    { operation, id, ...asked }: DirectCall,
  ): Promise<DirectResult | null | undefined> {
    if (operation === "removeAll") {
      await this.removeSelected();
      return {};
    }
    const named = id === undefined ? {} : this.idFilter(id);
    // The document path answers a text that names nothing.
    if (named === undefined) return undefined;
    const collection = await this.#open(false, asked.page);
    const plan = planDirect({ operation, name: named, ...asked }, collection);
    return plan && await new DirectCollection(collection).run(plan);
  }

  byId(id: string, anyway = false): Promise<EntityValue | null> {
    return this.#find(id, anyway ? "anyway" : "");
  }

  forChange(id: string): Promise<EntityValue | null> {
    return this.#find(id, "change");
  }

  async newEntity(): Promise<EntityValue> {
    const model = await this.#options.model();
    return new model() as EntityValue;
  }

  identify(entity: EntityValue): unknown {
    return documentOf(entity)._id;
  }

  async locate(entity: EntityValue): Promise<Place> {
    const { model, selection, timeBudget } = await this.#open();
    const scope = castFilter(model, selection.scope);
    return new Place({ model, id: identifierOf(entity, model), scope, timeBudget });
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const { selection, shape, timeBudget } = this.#options;
    const doc = documentOf(entity);
    const isExact = await timeBudget.wait(this.store(doc));
    if (isExact && !isNarrowed(selection, shape)) return doc;
    const query = (doc.constructor as Model<unknown>).findById(doc._id, selection.projection);
    const shown = await timeBudget.wait(query.maxTimeMS(this.#options.maxTimeMS).exec());
    if (shown === null) throw conflict();
    return shown as EntityValue;
  }

  async listAgain(ids: readonly unknown[]): Promise<readonly EntityValue[]> {
    const { model, conditions, timeBudget } = await this.#open();
    const { sort: _sort, ...options } = this.#readOptions(false);
    const query = model.find({}, this.#projection(true), { ...options, lean: false });
    const named = withConditions(query, everyFilter({ _id: { $in: ids } }, conditions));
    return await timeBudget.wait(named.exec()) as EntityValue[];
  }

  async remove(entity: EntityValue): Promise<void> {
    await this.#options.timeBudget.wait(this.removeStored(documentOf(entity)));
  }

  async removeMany(ids: readonly unknown[]): Promise<void> {
    for (let start = 0; start < ids.length; start += DELETE_BATCH) {
      const batch = ids.slice(start, start + DELETE_BATCH);
      await this.#options.timeBudget.wait(this.writes.removeMany(batch));
    }
  }

  /** Removes all that is selected, without documents. */
  protected async removeSelected(): Promise<void> {
    const { conditions, timeBudget } = await this.#open();
    const { skip, limit, sort: _sort, ...options } = this.#readOptions();
    if (skip === undefined && limit === undefined) {
      await timeBudget.wait(this.writes.removeAll(conditions, options));
    } else {
      await this.removeMany(await this.selectedIds());
    }
  }

  /** What the place of the route asks for. */
  protected placed(): Filter {
    return {};
  }

  protected async selectedIds(): Promise<unknown[]> {
    return await readIds(await this.#open());
  }

  protected store(doc: Document): Promise<boolean> {
    return this.writes.store(doc);
  }

  protected removeStored(doc: Document): Promise<void> {
    return this.writes.remove(doc);
  }

  /** Opens the collection; with `anyway`, the conditions of the client are left out. */
  async #open(anyway = false, page?: PageRead): Promise<OpenCollection> {
    const model = await this.#options.model();
    if (page) await this.#options.timeBudget.wait(confirmIndexes(page, model));
    const { filter, added = {}, scope } = this.#options.selection;
    const conditions = everyFilter(this.placed(), anyway ? added : filter, scope);
    return { ...this.#options, model, conditions };
  }

  async #find(id: string, read: "change" | "anyway" | ""): Promise<EntityValue | null> {
    const forChange = read === "change";
    const named = this.idFilter(id);
    if (named === undefined) return null;
    const options = { ...this.#readOptions(false), ...forChange && { lean: false } };
    const { model, conditions, timeBudget } = await this.#open(read === "anyway");
    const find = model.findOne({}, this.#projection(forChange), options);
    const query = withConditions(find, everyFilter(named, conditions));
    return await timeBudget.wait(forChange ? findKept(query) : query.exec()) as EntityValue | null;
  }

  /** The condition that names an entity; `undefined` for a text that names none. */
  protected idFilter(id: string): Filter | undefined {
    return byIdentifier(id);
  }

  #readOptions(page = true): Record<string, unknown> {
    const { selection, maxTimeMS } = this.#options;
    return readOptions(selection, { maxTimeMS, page });
  }

  #projection(whole: boolean): Record<string, unknown> {
    return whole ? wholeProjection(this.#options) : uncovered(this.#options.selection.projection);
  }
}
