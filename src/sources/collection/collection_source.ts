import type { Document, Model } from "mongoose";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ModelQuery } from "../../declare/operations/action.ts";
import { castFilter, withConditions } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import { queryOptions } from "../../filter/selection.ts";
import {
  boundSelection,
  byIdentifiers,
  byKey,
  byStoredId,
  documentOf,
  identifierOf,
  readSelection,
} from "../entities.ts";
import { showsInPart, uncovered } from "../../filter/projection.ts";
import { hasMiddleware } from "../../schema/mongoose/schemas/schema_members.ts";
import type { TransactionPart } from "../../store/in_transaction.ts";
import {
  insertDocuments,
  insertEachDocument,
  saveDocument,
  saveDocuments,
} from "../../write/save_document.ts";
import { removeDocument } from "../../write/remove_document.ts";
import {
  type AddedStatements,
  type Around,
  statementsForUpdate,
} from "../../store/writes/transact.ts";
import { removeWhere, updateWhere } from "../../store/writes/where.ts";
import type { StoredObject } from "../../store/values.ts";
import {
  aggregateSelected,
  countInCollection,
  pageOptions,
  readAllSaved,
  readIds,
  readListed,
  readSaved,
  readStoredValues,
  storedOf,
  wholeProjection,
} from "./read_documents.ts";
import { makeBytesRead, planIn, readNamed, storedEntities, storedEntity } from "./read_stored.ts";
import type { OpenCollection } from "./read_stored.ts";
import { removalUpdate } from "./store_update.ts";
import { planStatement } from "./write_stored.ts";
import { insertEntities } from "../insert_entities.ts";
import type { SavedEntity } from "../saved_entity.ts";
import { stampDocument } from "../stamp_document.ts";
import { type Additions, stampsFor } from "../additions.ts";
import type { PartPath } from "../../store/parts/part_path.ts";
import type { ReadPlan } from "./plan_read.ts";
import { isOneInTransaction, whyHooked } from "./plan_write.ts";
import type {
  Aggregation,
  AskedFields,
  EntitiesRead,
  EntityName,
  EntityValue,
  PageRead,
  PlannedWrite,
  Read,
  ReadBinding,
  ReadRequest,
  SaveBinding,
  Source,
  WriteCommand,
} from "../source.ts";

const DELETE_BATCH = 1000;

interface RemoveOptions {
  readonly around?: Around;
  readonly options?: Readonly<Record<string, unknown>>;
}

export interface CollectionSourceOptions extends Omit<OpenCollection, "model" | "conditions"> {
  readonly model: () => Promise<Model<unknown>>;
  readonly part?: TransactionPart | undefined;
  readonly additions?: Additions | undefined;
}

export class CollectionSource implements Source {
  readonly #options: CollectionSourceOptions;

  constructor(options: CollectionSourceOptions) {
    this.#options = options;
  }

  async read(request: ReadRequest): Promise<Read> {
    const collection = await this.open();
    const plan = planIn(collection, { request });
    if (plan.kind === "documents") return this.#entities(request, { collection, plan });
    return makeBytesRead(request, { collection, nameFilter: (name) => this.idFilter(name) });
  }

  async readEntities(request: ReadRequest): Promise<EntitiesRead> {
    const collection = await this.open();
    const plan = planIn(collection, { request, needsEntities: true });
    return this.#entities(request, { collection, plan });
  }

  async readStored(
    name: EntityName,
    paths: readonly string[],
  ): Promise<StoredObject | undefined> {
    const collection = await this.open(true);
    const named = this.idFilter(name);
    const conditions = named && everyFilter(named, collection.conditions);
    return conditions && await readStoredValues(collection, { conditions, paths });
  }

  async readNamed(
    name: EntityName,
    names: readonly string[],
  ): Promise<AskedFields | null | undefined> {
    const named = this.idFilter(name);
    return named === undefined
      ? null
      : await readNamed({ ...await this.open(), name: named }, names);
  }

  async count(upTo?: number): Promise<number> {
    return await this.#options.timeBudget.wait(countInCollection(await this.open(), upTo));
  }

  async aggregate(asked: Aggregation): Promise<Record<string, unknown>[]> {
    return await this.#options.timeBudget.wait(aggregateSelected(await this.open(), asked));
  }

  async write(change: WriteCommand): Promise<PlannedWrite> {
    const { operation, id, limit } = change;
    // Checked before the connection is opened, because a class whose hooks store its entities elsewhere needs none.
    const reason = whyHooked(change);
    if (reason !== undefined) return { kind: "documents", reason };
    const addedStatements = this.#addedStatementsFor(change);
    const isUpdate = this.keepsRemoved;
    if (addedStatements !== undefined && !isOneInTransaction(change, { isUpdate })) {
      return { kind: "documents", reason: "a feature of the class sends further statements" };
    }
    if (operation === "removeAll") {
      return {
        kind: "statement",
        send: () => this.removeSelected(limit).then((affected) => ({ affected })),
      };
    }
    const name = id === undefined ? {} : this.idFilter(id);
    if (name === undefined) return { kind: "documents", reason: "the path names no entity" };
    const opened = await this.open();
    const stamps = stampsFor(this.#options.additions, opened.model);
    const removed = removalUpdate(this.#options.additions, opened.model);
    return await planStatement(change, {
      ...opened,
      name,
      stamps,
      addedStatements,
      removal: removed,
    });
  }

  async newEntity(_id?: unknown): Promise<EntityValue> {
    const model = await this.#options.model();
    const entity = new model(_id === undefined ? undefined : { _id }) as EntityValue;
    this.stamp(entity);
    return entity;
  }

  async resume(ids: readonly unknown[]): Promise<readonly unknown[]> {
    return await storedOf(await this.open(), ids);
  }

  boundTo(binding: SaveBinding): Source {
    return this.with({ selection: boundSelection(this.#options.selection, binding) });
  }

  joining(part: TransactionPart): Source {
    return this.with({ part });
  }

  within(read: ReadBinding): Source {
    const selection = readSelection(this.#options.selection, read);
    return this.with({ selection, timeBudget: read.timeBudget });
  }

  protected with(changes: Partial<CollectionSourceOptions>): Source {
    return new CollectionSource({ ...this.#options, ...changes });
  }

  async query(): Promise<ModelQuery<FrameworkModel>> {
    const { model, conditions } = await this.open();
    const filter = castFilter(model, conditions);
    return { filter, model: model as unknown as ModelQuery<FrameworkModel>["model"] };
  }

  identify(entity: EntityValue): unknown {
    return documentOf(entity)._id;
  }

  async locate(entity: EntityValue): Promise<PartPath> {
    const { model, selection, timeBudget } = await this.open();
    const scope = castFilter(model, selection.scope);
    const stamps = stampsFor(this.#options.additions, model)?.(false);
    const { addedStatements } = this.#options.additions ?? {};
    const id = identifierOf(entity, model);
    return { model, id, scope, timeBudget, steps: [], stamps, addedStatements };
  }

  async save(entity: EntityValue): Promise<SavedEntity | undefined> {
    const doc = documentOf(entity);
    this.stamp(entity);
    await this.#options.timeBudget.wait(this.store(doc));
    const shown = showsInPart(this.#options) ? await readSaved(doc, this.#options) : doc;
    return shown && { entity: shown };
  }

  async insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]> {
    const docs = entities.map(documentOf);
    for (const doc of docs) this.stamp(doc);
    await this.#options.timeBudget.wait(this.storeNew(docs));
    if (!showsInPart(this.#options)) return docs;
    return (await readAllSaved(docs, this.#options)).filter((each) => each !== undefined);
  }

  /** Missing if a parent refers to the entities, because each then needs a transaction with the parent. */
  get insertEach(): Source["insertEach"] {
    if (this.#options.linked) return undefined;
    return async (entities) =>
      await insertEntities(entities, {
        model: await this.#options.model(),
        insert: (docs) => {
          for (const doc of docs) this.stamp(doc);
          const options = this.#writeOptions();
          const inserted = insertEachDocument(docs, options);
          // Added statements need several transactions, each with its own time limit, so the whole has none.
          return options.addedStatements === undefined
            ? options.timeBudget.wait(inserted)
            : inserted;
        },
        save: async (entity) => (await this.save(entity))?.entity,
        readSaved: async (docs) =>
          showsInPart(this.#options) ? await readAllSaved(docs, this.#options) : docs,
      });
  }

  async updateAll(entities: readonly EntityValue[]): Promise<void> {
    const docs = entities.map(documentOf);
    for (const doc of docs) this.stamp(doc);
    await this.#options.timeBudget.wait(saveDocuments(docs, this.#writeOptions()));
  }

  async remove(entity: EntityValue): Promise<void> {
    await this.#options.timeBudget.wait(this.removeStored(documentOf(entity)));
  }

  async removeMany(ids: readonly unknown[], unchanged: readonly Filter[] = []): Promise<number> {
    let count = 0;
    for (let start = 0; start < ids.length; start += DELETE_BATCH) {
      const end = start + DELETE_BATCH;
      const some = ids.slice(start, end);
      const named = byIdentifiers(some, unchanged.slice(start, end));
      count += await this.#options.timeBudget.wait(this.removeNamed(named));
    }
    return count;
  }

  protected async removeSelected(most = Infinity): Promise<number> {
    const { skip, limit = most, sort: _sort, ...options } = this.#queryOptions();
    const { schema } = await this.#options.model();
    if (hasMiddleware(schema as never, ["find"]) || skip !== undefined || limit !== Infinity) {
      return await this.removeMany(await readIds(await this.open(), most));
    }
    return await this.#options.timeBudget.wait(this.removeNamed(this.placed(), { options }));
  }

  protected placed(): Filter {
    return {};
  }

  protected async store(doc: Document, around?: Around): Promise<void> {
    await saveDocument(doc, this.#writeOptions(around));
  }

  protected async storeNew(docs: readonly Document[], around?: Around): Promise<void> {
    await insertDocuments(docs, this.#writeOptions(around));
  }

  protected async removeStored(doc: Document, around?: Around): Promise<void> {
    const removal = removalUpdate(this.#options.additions, doc.constructor as Model<unknown>);
    await removeDocument(doc, { ...this.#writeOptions(around), removal });
  }

  stamp(entity: EntityValue): void {
    stampDocument(entity, this.#options.additions);
  }

  /** An entity that stays stored can come back from the trash, so its parent keeps the reference. */
  protected get keepsRemoved(): boolean {
    return this.#options.additions?.removal !== undefined;
  }

  protected async removeNamed(
    named: Filter,
    { around, options }: RemoveOptions = {},
  ): Promise<number> {
    const model = await this.#options.model();
    const { additions, timeBudget, selection } = this.#options;
    const { filter, scope, options: { collation } } = selection;
    const context = { model, timeBudget, addedStatements: additions?.addedStatements, around };
    const all = castFilter(model, everyFilter(named, filter, scope));
    const command = { filter: all, collation: collation as object | undefined, options };
    const update = removalUpdate(additions, model);
    return update === undefined
      ? await removeWhere(context, command)
      : await updateWhere(context, { ...command, update, change: "remove" });
  }

  #addedStatementsFor({ operation, body = {} }: WriteCommand): AddedStatements | undefined {
    const { addedStatements } = this.#options.additions ?? {};
    const isUpdate = operation === "update" || operation === "updateAll";
    return isUpdate ? statementsForUpdate(addedStatements, Object.keys(body)) : addedStatements;
  }

  #writeOptions(around?: Around) {
    const { selection, timeBudget, part, additions } = this.#options;
    const { scope, filter, version = {}, options: { collation } } = selection;
    return {
      scope,
      filter: everyFilter(filter, version),
      collation: collation as object | undefined,
      overwrites: this.#options.by !== undefined,
      shown: this.#options.shape.withoutApart,
      timeBudget,
      addedStatements: additions?.addedStatements,
      part,
      around,
    };
  }

  /** `anyway` leaves out the client's filter, but no condition that hides entities. */
  protected async open(anyway = false): Promise<OpenCollection> {
    const model = await this.#options.model();
    const { filter, hookConditions: added = {}, scope } = this.#options.selection;
    const conditions = everyFilter(this.placed(), anyway ? added : filter, scope);
    return { ...this.#options, model, conditions };
  }

  #entities(
    request: ReadRequest,
    { collection, plan }: { readonly collection: OpenCollection; readonly plan: ReadPlan },
  ): EntitiesRead {
    const isStored = plan.kind === "documents" && plan.by === "driver";
    return {
      kind: "documents",
      list: (page) =>
        isStored
          ? storedEntities({ request, page }, collection)
          : readListed(collection, this.#listQuery(request, page)),
      one: async (name, ignoresClient = false) => {
        const named = this.idFilter(name);
        if (named === undefined) return null;
        const opened = { ...ignoresClient ? await this.open(true) : collection, name: named };
        return await (isStored ? storedEntity(request, opened) : this.#findOne(request, opened));
      },
    };
  }

  #listQuery({ forChange }: ReadRequest, page: PageRead | undefined) {
    const options = { ...this.#queryOptions(), ...page && pageOptions(page) };
    const lean = options.lean === true && !forChange;
    return { projection: this.#projection(forChange), options: { ...options, lean }, page };
  }

  async #findOne(
    { forChange }: ReadRequest,
    { model, name = {}, conditions, timeBudget }: OpenCollection,
  ): Promise<EntityValue | null> {
    const options = { ...this.#queryOptions(false), ...forChange && { lean: false } };
    const find = model.findOne({}, this.#projection(forChange), options);
    const query = withConditions(find, everyFilter(name, conditions));
    return await timeBudget.wait(query.exec()) as EntityValue | null;
  }

  protected idFilter(name: EntityName): Filter | undefined {
    return typeof name === "string" ? byKey(name, this.#options) : byStoredId(name);
  }

  #queryOptions(page = true): Record<string, unknown> {
    const { selection, maxTimeMS } = this.#options;
    return queryOptions(selection, { maxTimeMS, page });
  }

  #projection(whole: boolean): Record<string, unknown> {
    return whole ? wholeProjection(this.#options) : uncovered(this.#options.selection.projection);
  }
}
