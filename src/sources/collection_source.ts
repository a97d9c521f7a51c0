import mongoose from "mongoose";
import type { ClientSession, Document, Model } from "mongoose";
import { readDocuments } from "../database/read_batches.ts";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../filter/q/compile_filter.ts";
import type { JsonObject } from "../schema/fields/json.ts";
import { findKept } from "../schema/mongoose/statements/find_kept.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { everyFilter, KEEP_CONDITIONS } from "../filter/filters.ts";
import {
  documentOf,
  IDENTIFIER,
  identifierOf,
  readOptions,
  withoutPage,
} from "../filter/read_options.ts";
import { isNarrowed } from "../filter/projection/projection_of.ts";
import { wholePaths } from "../schema/fields/unselected_paths.ts";
import { removeDocument } from "../write/save/remove_document.ts";
import { saveDocument } from "../write/save/save_document.ts";
import type { SaveDocumentOptions } from "../write/save/save_document.ts";
import { Place } from "./parts/place.ts";
import { PlainCollection } from "./direct/plain_collection.ts";
import type { PlainCollectionOptions } from "./direct/plain_collection.ts";
import type { EntityValue, Inserted, Source } from "./source.ts";

/** How many identifiers one delete carries. */
const DELETE_BATCH = 1000;

/** How many documents one query populates: without a number, Mongoose asks for each one. */
const POPULATED_AT_ONCE = 100;

/** What a {@linkcode CollectionSource} is made of. */
export interface CollectionSourceOptions
  extends Omit<PlainCollectionOptions, "model" | "conditions"> {
  /** Gives Mongoose's model on the request's connection, at the first need of it. */
  readonly model: () => Promise<Model<unknown>>;
}

/** Runs a write together with others; it may be called more than once. */
export type Together = NonNullable<SaveDocumentOptions["together"]>;

/** The source of a root model: a collection. */
export class CollectionSource implements Source {
  readonly #options: CollectionSourceOptions;

  constructor(options: CollectionSourceOptions) {
    this.#options = options;
  }

  async *list(forChange: boolean): AsyncIterable<readonly EntityValue[]> {
    const { model, patience } = await this.#open();
    const options = this.#readOptions();
    const lean = options.lean === true && !forChange;
    const values = lean ? (await this.#plain()).listValues() : undefined;
    if (values !== undefined) return yield* values;
    const query = model.find({}, this.#projection(forChange), { ...options, lean });
    const batch = options.populate === undefined ? {} : { batchSize: POPULATED_AT_ONCE };
    yield* readDocuments(withConditions(query, this.conditions()).cursor(batch), patience);
  }

  async listJson(): Promise<AsyncIterable<Uint8Array> | undefined> {
    return (await this.#plain()).listJson();
  }

  async byIdJson(id: string): Promise<Uint8Array | null | undefined> {
    return this.isNamed(id) ? await (await this.#plain()).oneJson(this.naming(id)) : undefined;
  }

  byId(id: string): Promise<EntityValue | null> {
    return this.#find(id, this.#projection(false), { options: this.#readOptions() });
  }

  forChange(id: string): Promise<EntityValue | null> {
    const options = { ...this.#readOptions(), lean: false };
    return this.#find(id, this.#projection(true), { options, keeps: true });
  }

  async fresh(): Promise<EntityValue> {
    const { model } = await this.#open();
    return new model() as EntityValue;
  }

  identify(entity: EntityValue): unknown {
    return documentOf(entity)._id;
  }

  async locate(entity: EntityValue): Promise<Place> {
    const { model } = await this.#open();
    const { selection, patience } = this.#options;
    const scope = castFilter(model, selection.scope);
    return new Place({ model, id: identifierOf(entity, model), scope, patience });
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const { selection, shape, patience } = this.#options;
    const doc = documentOf(entity);
    const isExact = await patience.wait(this.store(doc));
    if (isExact && !isNarrowed(selection, shape)) return doc;
    const query = (doc.constructor as Model<unknown>).findById(doc._id, selection.projection);
    const shown = await patience.wait(query.maxTimeMS(this.#options.maxTimeMS).exec());
    if (shown === null) throw conflict();
    return shown as EntityValue;
  }

  async insert(body: JsonObject): Promise<Inserted | undefined> {
    return await (await this.#plain()).insert(body);
  }

  async patch(id: string, body: JsonObject): Promise<string | Uint8Array | null | undefined> {
    return this.isNamed(id) ? await (await this.#plain()).patch(this.naming(id), body) : undefined;
  }

  async removeById(id: string): Promise<boolean | undefined> {
    return this.isNamed(id) ? await (await this.#plain()).remove(this.naming(id)) : undefined;
  }

  async listAgain(ids: readonly unknown[]): Promise<readonly EntityValue[]> {
    const { model, patience } = await this.#open();
    const { sort: _sort, ...options } = withoutPage(this.#readOptions());
    const conditions = everyFilter({ _id: { $in: ids } }, this.conditions());
    const query = model.find({}, this.#projection(true), { ...options, lean: false });
    return await patience.wait(withConditions(query, conditions).exec()) as EntityValue[];
  }

  async remove(entity: EntityValue): Promise<void> {
    await this.#options.patience.wait(this.drop(documentOf(entity)));
  }

  async removeMany(ids: readonly unknown[]): Promise<void> {
    for (let start = 0; start < ids.length; start += DELETE_BATCH) {
      await this.#options.patience.wait(this.dropMany(ids.slice(start, start + DELETE_BATCH), {}));
    }
  }

  async removeSelected(): Promise<void> {
    const { model, patience } = await this.#open();
    const { skip, limit, sort: _sort, ...options } = this.#readOptions();
    if (skip === undefined && limit === undefined) {
      const { signal, maxTimeMS } = patience.statement();
      const most = Math.min(Number(options.maxTimeMS) || maxTimeMS, maxTimeMS);
      const statement = { ...options, signal, maxTimeMS: most };
      const query = withConditions(model.deleteMany({}, statement), this.conditions());
      await patience.wait(query.exec());
    } else {
      await this.removeMany(await this.selectedIds());
    }
  }

  /** What hooks, scopes and the place of the route ask for. */
  protected conditions(): Filter {
    const { filter, scope } = this.#options.selection;
    return everyFilter(filter, scope);
  }

  /** Reads the identifiers of all that is selected. */
  protected async selectedIds(): Promise<unknown[]> {
    const { model, patience } = await this.#open();
    const query = model.find({}, { _id: 1 }, { ...this.#readOptions(), lean: true });
    const found = await patience.wait(withConditions(query, this.conditions()).exec()) as {
      _id: unknown;
    }[];
    return found.map(({ _id }) => _id);
  }

  /**
   * Writes a new or changed document; `together` runs an insert with other writes.
   *
   * @returns Whether the document tells what is stored.
   */
  protected async store(doc: Document, together?: Together): Promise<boolean> {
    return await saveDocument(doc, { ...this.#binding(), ...together && { together } });
  }

  /** Removes a document that was read, through its own middleware; `together` runs that with other writes. */
  protected async drop(doc: Document, together?: Together): Promise<void> {
    await removeDocument(doc, { ...this.#binding(), ...together && { together } });
  }

  /** Removes what is known by its identifiers, as far as it is still selected and the scope allows. */
  protected async dropMany(
    ids: readonly unknown[],
    { together, filter = this.#options.selection.filter }: DropManyOptions,
  ): Promise<void> {
    const { model, selection: { scope } } = await this.#open();
    const { collation, bounds } = this.#binding();
    const options = { ...KEEP_CONDITIONS, ...collation && { collation } };
    const query = model.deleteMany({}, options as never);
    withConditions(query, everyFilter({ _id: { $in: ids } }, filter, scope));
    await sendWith(query as never, "deleteMany", async (statement) => {
      let result: mongoose.mongo.DeleteResult | undefined;
      const remove = async (session?: ClientSession) => {
        result = await statement(bounds(session));
      };
      await (together === undefined ? remove() : together(remove));
      return result as mongoose.mongo.DeleteResult;
    });
  }

  /** What binds the statements of a write. */
  #binding(): Pick<SaveDocumentOptions, "scope" | "filter" | "collation" | "bounds"> {
    const { selection: { scope, filter, options: { collation } }, patience } = this.#options;
    return {
      scope,
      filter,
      collation: collation as object | undefined,
      bounds: (session) => patience.statement(session),
    };
  }

  async #open(): Promise<
    Omit<CollectionSourceOptions, "model"> & { readonly model: Model<unknown> }
  > {
    return { ...this.#options, model: await this.#options.model() };
  }

  async #plain(): Promise<PlainCollection> {
    return new PlainCollection({ ...await this.#open(), conditions: this.conditions() });
  }

  async #find(
    id: string,
    projection: object,
    { options, keeps = false }: FindOptions,
  ): Promise<EntityValue | null> {
    const { model, patience } = await this.#open();
    if (!this.isNamed(id)) return null;
    const conditions = everyFilter(this.naming(id), this.conditions());
    const query = model.findOne({}, projection, withoutPage(options));
    const bound = withConditions(query, conditions);
    return await patience.wait(keeps ? findKept(bound) : bound.exec()) as EntityValue | null;
  }

  /** Whether a text can name an entity. */
  protected isNamed(id: string): boolean {
    return IDENTIFIER.test(id);
  }

  /** The condition that names an entity. */
  protected naming(id: string): Filter {
    return { _id: new mongoose.Types.ObjectId(id) };
  }

  #readOptions(): Record<string, unknown> {
    return readOptions(this.#options.selection, this.#options.maxTimeMS);
  }

  /** What hooks project, or everything, fields that reads leave out included: validators and scopes judge the whole. */
  #projection(whole: boolean): Record<string, unknown> {
    if (!whole) return this.#options.selection.projection;
    return Object.fromEntries(
      wholePaths(this.#options.shape).map((path) => [`+${path}`, true]),
    );
  }
}

/** How several entities are removed. */
interface DropManyOptions {
  /** Runs the removal together with other writes; it may be called more than once. */
  readonly together?: Together;
  /** What must still hold of them: what the request selects, unless told otherwise. */
  readonly filter?: Filter;
}

/** How one entity is read. */
interface FindOptions {
  /** The options of the query. */
  readonly options: Record<string, unknown>;
  /** Whether what the database sends is kept, for the write that follows. */
  readonly keeps?: boolean;
}
