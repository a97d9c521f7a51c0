import type { Document, Model, Types } from "mongoose";
import { StoreFailure } from "../../errors/failure.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { everyFilter, type Filter } from "../../filter/filters.ts";
import { SEEK_READ } from "../../filter/order.ts";
import { readProjected, showsInPart } from "../../filter/projection.ts";
import { queryOptions } from "../../filter/selection.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { byIdentifier } from "../../schema/fields/system_fields.ts";
import type { Version } from "../../schema/fields/system_fields.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { BATCH_SIZE } from "../../schema/mongoose/statements/bound_replies.ts";
import { throwOnly } from "../../errors/bulk_error.ts";
import { saveBy } from "../../schema/mongoose/statements/save_by.ts";
import { checkScope } from "../../store/writes/conditions.ts";
import { unchangedSinceHooks } from "../../write/update_conditions.ts";
import { hydrateWithSnapshot, readSnapshot, valuesToStore } from "../../write/stored_values.ts";
import type { StoredObject } from "../../store/values.ts";
import { JUST_SAVED, pageOptions, topFields } from "../collection/read_documents.ts";
import type { CollectionSourceOptions } from "../collection/collection_source.ts";
import {
  boundSelection,
  byStoredId,
  documentOf,
  identifierOf,
  readSelection,
} from "../entities.ts";
import { stampsFor } from "../additions.ts";
import type { SavedEntity } from "../saved_entity.ts";
import { stampDocument } from "../stamp_document.ts";
import { noteEnd } from "../window_end.ts";
import type {
  EntitiesRead,
  EntityName,
  EntityValue,
  PageRead,
  PlannedWrite,
  ReadBinding,
  ReadRequest,
  SaveBinding,
  Source,
} from "../source.ts";
import {
  addToProperty,
  checkRequired,
  elementKey,
  removeElements,
  removeOnly,
  updateElement,
  updateElements,
} from "./part_writes.ts";
import type { ElementKey } from "./part_writes.ts";
import { intoStages, type PartPath, stagesTo } from "../../store/parts/part_path.ts";

export interface ElementSourceOptions extends Omit<CollectionSourceOptions, "model"> {
  readonly parent: PartPath;
  readonly link: PartLink;
  readonly model: Model<unknown>;
}

interface ElementOptions extends Readonly<Record<string, unknown>> {
  readonly page?: PageRead | undefined;
  readonly stages?: readonly object[];
}

/** Reads by an aggregation on the parent's document, so that filters and sort orders apply to the embedded objects. */
export class ElementSource implements Source {
  readonly #options: ElementSourceOptions;
  readonly #scope: Filter;
  /** Each write repeats the filter of the read, because another request may have changed the object. */
  #selected: Filter = {};

  constructor(options: ElementSourceOptions) {
    this.#options = options;
    this.#scope = castFilter(options.model, options.selection.scope);
  }

  read(request: ReadRequest): Promise<EntitiesRead> {
    return this.readEntities(request);
  }

  /** Embedded entities are never read as JSON, because an aggregation takes them out of another document. */
  readEntities({ forChange }: ReadRequest): Promise<EntitiesRead> {
    const read = (filter: Filter, options: ElementOptions) =>
      forChange ? this.#readWhole(filter, options) : this.#readShown(filter, options);
    return Promise.resolve({
      kind: "documents",
      list: (page) => this.#list(read, page),
      one: async (name, ignoresClient = false) => {
        const named = this.#named(name, ignoresClient);
        const [found] = named ? await read(named, this.#queryOptions(false)) : [];
        return found ?? null;
      },
    });
  }

  async *#list(
    read: (filter: Filter, options: ElementOptions) => Promise<readonly EntityValue[]>,
    page: PageRead | undefined,
  ): AsyncGenerator<readonly EntityValue[]> {
    const filter = everyFilter(this.#filter(), page?.afterCursor);
    yield await read(filter, { ...this.#queryOptions(), ...page && pageOptions(page), page });
  }

  write(): Promise<PlannedWrite> {
    return Promise.resolve({ kind: "documents", reason: "a parent embeds the entities" });
  }

  async readStored(
    name: EntityName,
    paths: readonly string[],
  ): Promise<StoredObject | undefined> {
    const named = this.#named(name, true);
    if (named === undefined) return undefined;
    const stages = [{ $project: topFields(paths) }];
    const options = { maxTimeMS: this.#options.maxTimeMS, ...SEEK_READ, stages };
    const [found] = await this.#aggregate(named, options);
    return found;
  }

  async count(limit?: number): Promise<number> {
    const { sort: _sort, ...options } = this.#queryOptions(false);
    const stages = [...limit === undefined ? [] : [{ $limit: limit }], { $count: "total" }];
    const [counted] = await this.#aggregate(this.#filter(), { ...options, stages });
    return Number(counted?.total ?? 0);
  }

  newEntity(_id?: unknown): Promise<EntityValue> {
    const { model } = this.#options;
    return Promise.resolve(new model(_id === undefined ? undefined : { _id }) as EntityValue);
  }

  async resume(ids: readonly unknown[]): Promise<readonly unknown[]> {
    const { parent, link, maxTimeMS, timeBudget } = this.#options;
    const stages = [
      ...stagesTo(parent),
      ...intoStages(link.property, link.array),
      { $match: { _id: { $in: ids } } },
      { $project: { _id: 1 } },
    ];
    const options = { maxTimeMS, readPreference: "primary" } as const;
    const cursor = parent.model.collection.aggregate<StoredObject>(stages as never, options);
    return (await timeBudget.wait(cursor.toArray())).map(({ _id }) => _id);
  }

  boundTo(binding: SaveBinding): Source {
    const { parent, selection } = this.#options;
    const source = new ElementSource({
      ...this.#options,
      parent: { ...parent, version: binding.version },
      selection: boundSelection(selection, binding),
    });
    source.#selected = source.#filter();
    return source;
  }

  /** A write of embedded entities is one statement, without a transaction for `part`. */
  joining(): Source {
    return this;
  }

  within(read: ReadBinding): Source {
    const selection = readSelection(this.#options.selection, read);
    return new ElementSource({ ...this.#options, selection, timeBudget: read.timeBudget });
  }

  locate(entity: EntityValue): Promise<PartPath> {
    const { parent, link: { property, array }, model, additions } = this.#options;
    const id = array ? { id: identifierOf(entity, model) as Types.ObjectId } : {};
    const stamps = () => stampsFor(additions, model)?.(false) ?? {};
    const step = { property, scope: this.#scope, stamps, ...id };
    return Promise.resolve({ ...parent, steps: [...parent.steps, step] });
  }

  async save(entity: EntityValue): Promise<SavedEntity> {
    const doc = documentOf(entity);
    const { shape } = this.#options;
    let version: Version | undefined;
    const write = async () => {
      const change = { place: await this.locate(doc), condition: this.#selected, shape };
      version = await (doc.isNew ? this.#insert([doc], "version") : updateElement(doc, change));
    };
    const [shown = doc] = await this.#write([doc], () => saveBy([doc], write).catch(throwOnly));
    return { entity: shown, version };
  }

  async insertAll(entities: readonly EntityValue[]): Promise<EntityValue[]> {
    const docs = entities.map(documentOf);
    return await this.#write(docs, () => saveBy(docs, async () => void await this.#insert(docs)));
  }

  async updateAll(entities: readonly EntityValue[]): Promise<void> {
    const { parent, link: { property }, shape, timeBudget } = this.#options;
    const docs = entities.map(documentOf);
    for (const doc of docs) this.stamp(doc);
    const change = { property, scope: this.#scope, condition: this.#selected, shape };
    const work = saveBy(docs, () => updateElements(docs, { place: parent, ...change }));
    await timeBudget.wait(work);
  }

  async remove(entity: EntityValue): Promise<void> {
    const { parent, link, timeBudget } = this.#options;
    checkRequired(link);
    const unchanged = isDocument(entity) ? unchangedSinceHooks(entity) : {};
    if (link.array) return void await this.removeMany([this.identify(entity)], [unchanged]);
    const filter = everyFilter(this.#scope, this.#selected, unchanged);
    await timeBudget.wait(removeOnly(parent, { property: link.property, filter }));
  }

  identify(entity: EntityValue): ElementKey {
    return elementKey(readSnapshot(documentOf(entity)).values);
  }

  async removeMany(keys: readonly unknown[], unchanged: readonly Filter[] = []): Promise<number> {
    const { parent, link: { property }, timeBudget } = this.#options;
    const filter = everyFilter(this.#scope, this.#selected);
    const removed = { property, keys: keys as readonly ElementKey[], filter, unchanged };
    await timeBudget.wait(removeElements(parent, removed));
    return keys.length;
  }

  stamp(entity: EntityValue): void {
    stampDocument(entity, this.#options.additions);
  }

  async #write(docs: readonly Document[], write: () => Promise<void>): Promise<EntityValue[]> {
    const { link, shape, timeBudget, maxTimeMS, selection } = this.#options;
    for (const doc of docs) this.stamp(doc);
    // `readProjected()` throws for some projections, which must prevent the write.
    readProjected(selection.projection, this.#options);
    await timeBudget.wait(write());
    if (!showsInPart({ selection, shape })) return [...docs];
    const named = link.array ? { _id: { $in: docs.map(({ _id }) => _id) } } : {};
    const shown = await this.#readShown(named, { maxTimeMS, ...JUST_SAVED });
    if (shown.length < docs.length) throw new StoreFailure({ kind: "changed" });
    return shown;
  }

  async #insert(docs: readonly Document[], reads?: "version"): Promise<Version | undefined> {
    const { parent, link } = this.#options;
    const values = docs.map(valuesToStore);
    await checkScope(values, { scope: this.#scope, connection: parent.model.db });
    const added = await addToProperty(parent, { link, values, reads });
    if (added === undefined) throw new StoreFailure({ kind: link.array ? "changed" : "occupied" });
    for (const doc of docs) doc.isNew = false;
    return added.version;
  }

  #named(name: EntityName, anyway = false): Filter | undefined {
    const { link, model, selection: { hookConditions: added = {} } } = this.#options;
    const id = typeof name === "string" ? byIdentifier(name) : name;
    const named = link.array ? id && byStoredId(id) : {};
    return named && everyFilter(named, anyway ? castFilter(model, added) : this.#filter());
  }

  #filter(): Filter {
    return castFilter(this.#options.model, this.#options.selection.filter);
  }

  async #readShown(filter: Filter, options: ElementOptions): Promise<EntityValue[]> {
    const { model, timeBudget, selection } = this.#options;
    const { populate, lean, page } = options;
    const { stages, hydrate } = readProjected(selection.projection, this.#options);
    const found = await this.#aggregate(filter, { ...options, stages });
    for (const each of found) noteEnd(each, page);
    const docs = lean ? found : found.map(hydrate);
    if (populate !== undefined) {
      await timeBudget.wait(model.populate(docs as never, populate as never));
    }
    return docs as EntityValue[];
  }

  async #readWhole(filter: Filter, options: ElementOptions): Promise<EntityValue[]> {
    this.#selected = this.#filter();
    const found = await this.#aggregate(filter, options);
    return found.map((stored) => hydrateWithSnapshot(this.#options.model, stored));
  }

  async #aggregate(filter: Filter, given: ElementOptions): Promise<StoredObject[]> {
    const { parent, link, timeBudget } = this.#options;
    const { sort, skip, limit, stages = [], ...others } = given;
    const { page: _page, populate: _populate, lean: _lean, strictQuery: _strict, ...options } =
      others;
    const all = [
      ...stagesTo(parent),
      ...intoStages(link.property, link.array),
      { $match: everyFilter(filter, this.#scope) },
      ...sort === undefined ? [] : [{ $sort: sort }],
      ...typeof skip === "number" && skip > 0 ? [{ $skip: skip }] : [],
      ...typeof limit === "number" && limit > 0 ? [{ $limit: limit }] : [],
      ...stages,
    ];
    // All objects are in one array, so small batches would only cause round trips.
    const bounded = { ...options, batchSize: BATCH_SIZE };
    const cursor = parent.model.collection.aggregate<StoredObject>(all as never, bounded);
    return await timeBudget.wait(cursor.toArray());
  }

  #queryOptions(page = true): Record<string, unknown> {
    const { selection, maxTimeMS } = this.#options;
    return queryOptions(selection, { maxTimeMS, order: {}, page });
  }
}
