import mongoose from "mongoose";
import type { ClientSession, Connection, Document, Model } from "mongoose";
import { inTransaction } from "../database/in_transaction.ts";
import type { FrameworkModel } from "../declare/model/framework_model.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import type { Filter } from "../filter/filters.ts";
import type { Selection } from "../filter/selection.ts";
import { castFilter, withConditions } from "../filter/cast_filter.ts";
import { copyFilter, everyFilter, isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import { readOptions } from "../filter/selection.ts";
import { byStoredId, documentOf, identifierOf } from "./entities.ts";
import { isNarrowed, uncovered } from "../filter/projection.ts";
import { byIdentifier } from "../schema/fields/system_fields.ts";
import { sendWith } from "../schema/mongoose/statements/send_with.ts";
import { insertDocuments } from "../write/insert_documents.ts";
import { removeDocument, saveDocument } from "../write/save_document.ts";
import type { SaveDocumentOptions } from "../write/save_document.ts";
import {
  countSelected,
  pageOptions,
  readAllSaved,
  readIds,
  readListed,
  readSaved,
  readStoredValues,
  wholeProjection,
} from "./collection_reads.ts";
import { DirectCollection } from "./direct/direct_collection.ts";
import type { DirectResult } from "./direct/direct_collection.ts";
import { planDirect } from "./direct/direct_plan.ts";
import type { OpenCollection } from "./direct/direct_plan.ts";
import type { Place } from "./parts/place.ts";
import type {
  DirectCall,
  EntityName,
  EntityValue,
  ListRead,
  SaveBinding,
  Source,
  StoredValues,
} from "./source.ts";

const DELETE_BATCH = 1000;

export interface CollectionSourceOptions extends Omit<OpenCollection, "model" | "conditions"> {
  /** Gives the model on the request's connection, when it is first needed. */
  readonly model: () => Promise<Model<unknown>>;
}

/** Runs a write together with others; it may be called more than once. */
export type Together = NonNullable<SaveDocumentOptions["together"]>;

interface RemoveNamedOptions {
  readonly options?: Record<string, unknown>;
  readonly together?: Together;
  /** What must still hold of them; by default what the request selects. */
  readonly filter?: Filter;
}

export class CollectionSource implements Source {
  readonly #options: CollectionSourceOptions;

  constructor(options: CollectionSourceOptions) {
    this.#options = options;
  }

  async *list({ forChange = false, page }: ListRead): AsyncIterable<readonly EntityValue[]> {
    const collection = await this.#open();
    const options = { ...this.#readOptions(), ...page && pageOptions(page) };
    const lean = options.lean === true && !forChange;
    const plan = !forChange && this.#isMadeFromBytes(lean)
      ? planDirect({ operation: "all", lean, page }, collection)
      : undefined;
    if (plan?.operation === "all") return yield* new DirectCollection(collection).entities(plan);
    const query = { projection: this.#projection(forChange), options: { ...options, lean }, page };
    yield* readListed(collection, query);
  }

  async storedValues(name: EntityName, paths: readonly string[]): Promise<StoredValues> {
    const collection = await this.#open(true);
    const named = this.idFilter(name);
    const conditions = named && everyFilter(named, collection.conditions);
    return conditions && await readStoredValues(collection, { conditions, paths });
  }

  async count(upTo?: number): Promise<number> {
    return await this.#options.timeBudget.wait(countSelected(await this.#open(), upTo));
  }

  async direct(
    { operation, id, ...asked }: DirectCall,
  ): Promise<DirectResult | null | undefined> {
    if (operation === "removeAll") {
      await this.removeSelected();
      return {};
    }
    if (operation === "updateAll" || operation === "replace") return undefined;
    const named = id === undefined ? {} : this.idFilter(id);
    // The document path answers a text that names nothing.
    if (named === undefined) return undefined;
    const collection = await this.#open();
    const plan = planDirect({ operation, name: named, ...asked }, collection);
    return plan && await new DirectCollection(collection).run(plan);
  }

  byId(name: EntityName, anyway = false): Promise<EntityValue | null> {
    return this.#find(name, anyway ? "anyway" : "");
  }

  forChange(id: string): Promise<EntityValue | null> {
    return this.#find(id, "change");
  }

  async newEntity(): Promise<EntityValue> {
    const model = await this.#options.model();
    return new model() as EntityValue;
  }

  boundTo(binding: SaveBinding): Source {
    const selection = boundSelection(this.#options.selection, binding);
    return new CollectionSource({ ...this.#options, selection });
  }

  async query(): Promise<ModelQuery<FrameworkModel>> {
    const { model, conditions } = await this.#open();
    // A copy is trusted, where the application has set `sanitizeFilter`.
    const filter = copyFilter(castFilter(model, conditions));
    return { filter, model: model as unknown as ModelQuery<FrameworkModel>["model"] };
  }

  identify(entity: EntityValue): unknown {
    return documentOf(entity)._id;
  }

  async locate(entity: EntityValue): Promise<Place> {
    const { model, selection, timeBudget } = await this.#open();
    const scope = castFilter(model, selection.scope);
    return { model, id: identifierOf(entity, model), scope, timeBudget, steps: [] };
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const { selection, shape, timeBudget } = this.#options;
    const doc = documentOf(entity);
    await timeBudget.wait(this.store(doc));
    return isNarrowed(selection, shape) ? await readSaved(doc, this.#options) : doc;
  }

  async insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]> {
    const { selection, shape, timeBudget } = this.#options;
    const docs = entities.map(documentOf);
    await timeBudget.wait(this.storeNew(docs));
    return isNarrowed(selection, shape) ? await readAllSaved(docs, this.#options) : docs;
  }

  async remove(entity: EntityValue): Promise<void> {
    await this.#options.timeBudget.wait(this.removeStored(documentOf(entity)));
  }

  async removeMany(ids: readonly unknown[]): Promise<void> {
    for (let start = 0; start < ids.length; start += DELETE_BATCH) {
      const named = { _id: { $in: ids.slice(start, start + DELETE_BATCH) } };
      await this.#options.timeBudget.wait(this.removeNamed(named));
    }
  }

  protected async removeSelected(): Promise<void> {
    const { skip, limit, sort: _sort, ...options } = this.#readOptions();
    if (skip === undefined && limit === undefined) {
      await this.#options.timeBudget.wait(this.removeNamed(this.placed(), { options }));
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

  /** Writes a new or changed document. `together` runs an insert with other writes. */
  protected async store(doc: Document, together?: Together): Promise<void> {
    await saveDocument(doc, this.#writeOptions(together));
  }

  /** Writes new documents: all or none. One needs no transaction, and a hook may have begun its own. */
  protected async storeNew(docs: readonly Document[], together?: Together): Promise<void> {
    const { timeBudget } = this.#options;
    const connection = (await this.#options.model()).db as Connection;
    const session = docs[0]?.$session() ?? undefined;
    const insert: Together = together ??
      (docs.length === 1 || session?.inTransaction()
        ? (write) => write(session)
        : (write) => inTransaction({ connection, timeBudget, isRequired: true }, write));
    await insertDocuments(docs, this.#writeOptions(insert));
  }

  /** Removes a document that was read, through its own middleware. */
  protected async removeStored(doc: Document, together?: Together): Promise<void> {
    await removeDocument(doc, this.#writeOptions(together));
  }

  /** Removes what conditions name, as far as it is selected and the scope allows, in one statement. */
  protected async removeNamed(
    named: Filter,
    { together, options = {}, filter = this.#options.selection.filter }: RemoveNamedOptions = {},
  ): Promise<void> {
    const { collation, scope, statementOptions } = this.#writeOptions();
    const given = { ...KEEP_CONDITIONS, ...collation && { collation }, ...options };
    const model = await this.#options.model();
    const query = model.deleteMany({}, given as never);
    withConditions(query, everyFilter(named, filter, scope));
    await sendWith(query as never, {
      name: "deleteMany",
      together,
      statementOptions(session) {
        const statement = statementOptions(session);
        const most = Number(options.maxTimeMS) || statement.maxTimeMS;
        return { ...statement, maxTimeMS: Math.min(most, statement.maxTimeMS) };
      },
    });
  }

  #writeOptions(together?: Together) {
    const { selection, timeBudget } = this.#options;
    const { scope, filter, version = {}, options: { collation } } = selection;
    return {
      scope,
      filter: everyFilter(filter, version),
      collation: collation as object | undefined,
      statementOptions: (session?: ClientSession) => timeBudget.statement(session),
      ...together && { together },
    };
  }

  /** Opens the collection; with `anyway`, the conditions of the client are left out. */
  async #open(anyway = false): Promise<OpenCollection> {
    const model = await this.#options.model();
    const { filter, added = {}, scope } = this.#options.selection;
    const conditions = everyFilter(this.placed(), anyway ? added : filter, scope);
    return { ...this.#options, model, conditions };
  }

  async #find(name: EntityName, read: "change" | "anyway" | ""): Promise<EntityValue | null> {
    const forChange = read === "change";
    const named = this.idFilter(name);
    if (named === undefined) return null;
    const options = { ...this.#readOptions(false), ...forChange && { lean: false } };
    const collection = await this.#open(read === "anyway");
    const { model, conditions, timeBudget } = collection;
    const lean = options.lean === true;
    // What is apart is not read: Mongoose must know that it is not there.
    const leavesOut = forChange && this.#options.shape.apart.length > 0;
    const plan = !leavesOut && this.#isMadeFromBytes(lean || forChange)
      ? planDirect(
        { operation: "one", name: named, lean: lean || forChange, forChange },
        collection,
      )
      : undefined;
    if (plan?.operation === "one") return await new DirectCollection(collection).entity(plan);
    const find = model.findOne({}, this.#projection(forChange), options);
    const query = withConditions(find, everyFilter(named, conditions));
    return await timeBudget.wait(query.exec()) as EntityValue | null;
  }

  /** The condition that names an entity; `undefined` for a text that names none. */
  protected idFilter(name: EntityName): Filter | undefined {
    return typeof name === "string" ? byIdentifier(name) : byStoredId(name);
  }

  /**
   * Whether hooks may get what is made from bytes: Mongoose alone applies a projection to a document that is not read whole,
   * and it alone reads in the transaction around a request.
   */
  #isMadeFromBytes(isWhole: boolean): boolean {
    return !mongoose.get("transactionAsyncLocalStorage") &&
      (isWhole || isEmpty(this.#options.selection.projection));
  }

  #readOptions(page = true): Record<string, unknown> {
    const { selection, maxTimeMS } = this.#options;
    return readOptions(selection, { maxTimeMS, page });
  }

  #projection(whole: boolean): Record<string, unknown> {
    return whole ? wholeProjection(this.#options) : uncovered(this.#options.selection.projection);
  }
}

/** What a save of an action is bound to. After the first one, the entity need not be what the client has selected. */
export function boundSelection(
  selection: Selection,
  { version, isFirst }: SaveBinding,
): Selection {
  return { ...selection, version, ...!isFirst && { filter: {} } };
}
