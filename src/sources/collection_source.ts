import mongoose from "mongoose";
import type { ClientSession, Document, Model, Schema } from "mongoose";
import { toJson } from "../answers/to_json.ts";
import type { Patience } from "../database/patience.ts";
import { conflict } from "../errors/refusals.ts";
import type { Filter } from "../query/compile_filter.ts";
import type { JsonObject } from "../query/json.ts";
import { hasMiddleware } from "../mapper/internals.ts";
import type { Shape } from "../shape/shape.ts";
import { unselectedPaths } from "../shape/unselected_paths.ts";
import { flatEntity } from "../writing/flat_entity.ts";
import { flatFields } from "../writing/flat_fields.ts";
import { patchStored } from "../writing/patch_stored.ts";
import { saveDocument } from "../writing/save_document.ts";
import { writesPlainly } from "../writing/writes_plainly.ts";
import { castFilter, withConditions } from "./cast_filter.ts";
import { everyFilter, isEmpty, KEEP_CONDITIONS } from "./filters.ts";
import { jsonReader } from "./json_reader.ts";
import type { JsonQuery, JsonReader } from "./json_reader.ts";
import { Place } from "./place.ts";
import { isShareable, readShared } from "./shared_reads.ts";
import { documentOf, IDENTIFIER, identifierOf, readOptions, withoutPage } from "./read_options.ts";
import type { EntityValue, Inserted, Selection, Source } from "./source.ts";

/** How many identifiers one delete carries. */
const DELETE_BATCH = 1000;

/** Middleware that removing a document runs. */
const REMOVE_HOOKS = ["deleteOne", "find", "findOne", "init"];

/** What a {@linkcode CollectionSource} is made of. */
export interface CollectionSourceOptions {
  /** Gives the mapper's model on the request's connection, at the first need of it. */
  readonly model: () => Promise<Model<unknown>>;
  /** The shape of its schema. */
  readonly shape: Shape;
  /** What to select; read when a query runs, as hooks change it. */
  readonly selection: Selection;
  /** Bounds the waits. */
  readonly patience: Patience;
  /** The time that the database itself may take. */
  readonly maxTimeMS: number;
}

/** The source of a root model: a collection. */
export class CollectionSource implements Source {
  readonly #options: CollectionSourceOptions;

  constructor(options: CollectionSourceOptions) {
    this.#options = options;
  }

  async *list(forChange: boolean): AsyncIterable<readonly EntityValue[]> {
    const { model, patience } = await this.#open();
    const { lean, ...options } = this.#readOptions();
    const reading = lean === true && !forChange ? await this.#openJson(options) : undefined;
    if (reading !== undefined) return yield* reading.reader.values(reading.query, patience);
    const given = { ...options, lean: lean === true && !forChange };
    const query = model.find({}, this.#projection(forChange), given);
    const cursor = withConditions(query, this.conditions()).cursor();
    try {
      for (;;) {
        const entities = await patience.wait(take(cursor));
        if (entities.length === 0) return;
        yield entities;
      }
    } finally {
      cursor.close().catch(() => {});
    }
  }

  async listJson(): Promise<AsyncIterable<Uint8Array> | undefined> {
    const { patience } = this.#options;
    const reading = await this.#openJson(this.#readOptions());
    return reading?.reader.read(reading.query, patience);
  }

  async byIdJson(id: string): Promise<Uint8Array | null | undefined> {
    if (!this.isNamed(id)) return undefined;
    const { patience } = this.#options;
    const reading = await this.#openJson(withoutPage(this.#readOptions()));
    if (reading === undefined) return undefined;
    const { reader, query, model } = reading;
    const naming = castFilter(model, this.naming(id));
    if (naming._id instanceof mongoose.Types.ObjectId && isShareable(query)) {
      return await patience.wait(readShared(reader, naming._id, query));
    }
    const conditions = everyFilter(naming, query.conditions);
    for await (const text of reader.read({ ...query, conditions }, patience)) return text;
    return null;
  }

  byId(id: string): Promise<EntityValue | null> {
    return this.#find(id, this.#projection(false), this.#readOptions());
  }

  forChange(id: string): Promise<EntityValue | null> {
    return this.#find(id, this.#projection(true), { ...this.#readOptions(), lean: false });
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
    const scope = castFilter(model, this.#options.selection.scope);
    return new Place(model, identifierOf(entity, model), scope);
  }

  async save(entity: EntityValue): Promise<EntityValue> {
    const { selection, patience } = this.#options;
    const doc = documentOf(entity);
    await patience.wait(this.store(doc));
    if (!this.#isNarrowed()) return doc;
    const query = (doc.constructor as Model<unknown>).findById(doc._id, selection.projection);
    const shown = await patience.wait(query.maxTimeMS(this.#options.maxTimeMS).exec());
    if (shown === null) throw conflict();
    return shown as EntityValue;
  }

  async patch(id: string, body: JsonObject): Promise<string | Uint8Array | null | undefined> {
    const { model, patience, selection, shape, maxTimeMS } = await this.#open();
    if (!isEmpty(selection.scope) || !isEmpty(selection.options) || this.#isNarrowed()) {
      return undefined;
    }
    const changes = this.isNamed(id) && writesPlainly(model, shape)
      ? flatFields(body, shape)
      : undefined;
    if (changes === undefined) return undefined;
    const reader = jsonReader(model, shape);
    const conditions = castFilter(model, everyFilter(this.naming(id), this.conditions()));
    const patch = { conditions, changes, maxTimeMS, raw: reader !== undefined };
    const stored = await patience.wait(patchStored(model, patch));
    if (stored === null || stored === undefined) return stored;
    return reader?.text(stored) ?? toJson(model.hydrate(stored), shape);
  }

  async insert(body: JsonObject): Promise<Inserted | undefined> {
    const { model, patience, selection, shape } = await this.#open();
    if (!isEmpty(selection.scope) || !isEmpty(selection.options) || this.#isNarrowed()) {
      return undefined;
    }
    const entity = jsonReader(model, shape) && flatEntity(model, body, shape);
    if (entity === undefined) return undefined;
    await patience.wait(model.collection.insertOne(entity));
    return { text: toJson(entity, shape), id: String(entity._id) };
  }

  async removeById(id: string): Promise<boolean | undefined> {
    const { model, patience, selection } = await this.#open();
    if (!this.isNamed(id) || !isEmpty(selection.options)) return undefined;
    if (hasMiddleware(model.schema as Schema, REMOVE_HOOKS)) return undefined;
    const conditions = everyFilter(this.naming(id), this.conditions());
    const options = { ...KEEP_CONDITIONS, maxTimeMS: this.#options.maxTimeMS };
    const query = withConditions(model.deleteOne({}, options), conditions);
    const { deletedCount } = await patience.wait(query.exec());
    return deletedCount > 0;
  }

  async remove(entity: EntityValue): Promise<void> {
    await this.#options.patience.wait(this.drop([documentOf(entity)]));
  }

  async removeMany(ids: readonly unknown[]): Promise<void> {
    for (let start = 0; start < ids.length; start += DELETE_BATCH) {
      await this.#options.patience.wait(this.dropMany(ids.slice(start, start + DELETE_BATCH)));
    }
  }

  async removeSelected(): Promise<void> {
    const { model, patience } = await this.#open();
    const { skip, limit, sort: _sort, ...options } = this.#readOptions();
    if (skip === undefined && limit === undefined) {
      const query = withConditions(model.deleteMany({}, options), this.conditions());
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

  /** Writes a new or changed document. */
  protected async store(doc: Document, session?: ClientSession): Promise<void> {
    await saveDocument(doc, this.#options.selection.scope, session);
  }

  /** Removes documents that were read, through their own middleware. */
  protected async drop(docs: readonly Document[], session?: ClientSession): Promise<void> {
    const { scope } = this.#options.selection;
    for (const doc of docs) {
      if (!isEmpty(scope)) {
        doc.$where = { $and: [castFilter(doc.constructor as Model<unknown>, scope)] };
      }
      const query = doc.deleteOne(session && { session }).setOptions(KEEP_CONDITIONS);
      const { deletedCount } = await query.exec() as { deletedCount: number };
      if (deletedCount === 0) throw conflict();
    }
  }

  /** Removes what is known by its identifiers, as far as the scope allows. */
  protected async dropMany(ids: readonly unknown[], session?: ClientSession): Promise<void> {
    const { model, selection } = await this.#open();
    const conditions = everyFilter({ _id: { $in: ids } }, selection.scope);
    await model.deleteMany(conditions, { ...KEEP_CONDITIONS, ...session && { session } }).exec();
  }

  async #open(): Promise<
    Omit<CollectionSourceOptions, "model"> & { readonly model: Model<unknown> }
  > {
    return { ...this.#options, model: await this.#options.model() };
  }

  /** The query of a read without documents, and who runs it; `undefined` where it takes documents. */
  async #openJson(
    options: Record<string, unknown>,
  ): Promise<{ model: Model<unknown>; reader: JsonReader; query: JsonQuery } | undefined> {
    const { model, selection: { projection }, shape } = await this.#open();
    const reader = jsonReader(model, shape);
    if (!reader?.takes({ projection, options })) return undefined;
    const conditions = castFilter(model, this.conditions());
    return { model, reader, query: { conditions, options, projection } };
  }

  async #find(
    id: string,
    projection: object,
    options: Record<string, unknown>,
  ): Promise<EntityValue | null> {
    const { model, patience } = await this.#open();
    if (!this.isNamed(id)) return null;
    const conditions = everyFilter(this.naming(id), this.conditions());
    const query = model.findOne({}, projection, withoutPage(options));
    return await patience.wait(withConditions(query, conditions).exec()) as EntityValue | null;
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
      unselectedPaths(this.#options.shape).map((path) => [`+${path}`, true]),
    );
  }

  /** Whether a read shows less than the whole, so that the answer of a write is read again. */
  #isNarrowed(): boolean {
    const { selection, shape } = this.#options;
    return Object.keys(selection.projection).length > 0 || unselectedPaths(shape).length > 0;
  }
}

/** How many documents are read at a time. */
const AT_ONCE = 32;

/** Takes the next documents of a cursor; none at its end. */
async function take(cursor: { next(): Promise<unknown> }): Promise<EntityValue[]> {
  const taken: EntityValue[] = [];
  while (taken.length < AT_ONCE) {
    const next = await cursor.next();
    if (next === null) break;
    taken.push(next as EntityValue);
  }
  return taken;
}
