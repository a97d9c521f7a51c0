import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document, Model, mongo } from "mongoose";
import { type Batch, readBatches } from "../../database/read_batches.ts";
import { nextTurn } from "../../errors/event_loop.ts";
import type { TimeBudget } from "../../database/time_budget.ts";
import { type Filter, isEmpty } from "../../filter/filters.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { alsoReading, databaseProjection, uncovered } from "../../filter/projection.ts";
import { documentsIn } from "../../json/bytes/bson_reader.ts";
import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";
import { fillMarked, type TargetFinder, wantedIn } from "../../json/populate.ts";
import { BsonToJson, withoutPaths, writeMarked } from "./stored_json.ts";
import { hydrateWithSnapshot } from "../../write/stored_values.ts";
import { noteEnd } from "../page_end.ts";
import type { PageRead } from "../source.ts";

/** How many entities with hooks are made in one turn of the event loop. */
const MADE_AT_ONCE = 32;

/** How Mongoose makes documents that it has found. */
const FOUND = { skipId: true, isNew: false, willInit: true };

/** How many documents are held while the entities that they name are read. */
const POPULATED_AT_ONCE = 128;

export interface StoredQuery {
  /** The conditions, cast. */
  readonly conditions: Filter;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** Paths that are read besides, and not shown. */
  readonly also?: readonly string[] | undefined;
  /** Stands between entities; a comma if there is none. */
  readonly separator?: Separator | undefined;
}

interface StoredReaderOptions {
  readonly model: Model<unknown>;
  readonly shape: Shape;
}

interface EachOptions {
  readonly finder: TargetFinder | undefined;
  readonly timeBudget: TimeBudget;
}

interface EntitiesOptions {
  readonly timeBudget: TimeBudget;
  readonly page: PageRead | undefined;
  /** Whether they are read to be changed, and therefore whole. */
  readonly forChange?: boolean | undefined;
}

/** A stored entity that hooks look at: they get a document or an instance that is made from its values. */
export class StoredEntity {
  /** The decoded entity, as the driver gives it. */
  readonly values: object;
  readonly #toDocument: (values: object) => Document;

  constructor(values: object, toDocument: (values: object) => Document) {
    this.values = values;
    this.#toDocument = toDocument;
  }

  document(): Document {
    return this.#toDocument(this.values);
  }
}

/** Reads stored documents from their bytes: as JSON text, or for hooks. */
export class BsonReads {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #writer: BsonToJson;
  readonly #selected: StoredQuery["projection"];
  readonly #unselected: Record<string, 0> | undefined;
  /** Writers for parts of documents. A projection that belongs to a route is always the same object. */
  readonly #partly = new WeakMap<object, BsonToJson>();

  constructor({ model, shape }: StoredReaderOptions) {
    this.#model = model;
    this.#shape = shape;
    this.#writer = new BsonToJson({ model, shape });
    this.#selected = databaseProjection({}, shape);
    this.#unselected = withoutPaths(shape.unselected);
  }

  async *read(query: StoredQuery, timeBudget: TimeBudget): AsyncGenerator<JsonPiece> {
    const writer = this.writerFor(query);
    const { separator = "," } = query;
    const batches = this.#list(query, timeBudget);
    // The bytes of a batch are free while a slow client takes its text: no variable of the generator holds them.
    const nextText = async () => {
      const { done, value } = await batches.next();
      return done ? undefined : await writer.list(value, separator);
    };
    let begun = false;
    try {
      for (let text = await nextText(); text !== undefined; text = await nextText()) {
        if (text.length === 0) continue;
        if (begun) yield separator;
        begun = true;
        yield text;
      }
    } finally {
      await batches.return(undefined);
    }
  }

  /** Reads a list with entities in the place of identifiers: for each batch, the finder is asked once. */
  async *readPopulated(
    { options, ...query }: StoredQuery,
    { finder, timeBudget }: { readonly finder: TargetFinder; readonly timeBudget: TimeBudget },
  ): AsyncGenerator<JsonPiece> {
    const few = { ...query, options: { ...options, batchSize: POPULATED_AT_ONCE } };
    const { separator = "," } = query;
    let begun = false;
    const marking = { writer: this.writerFor(query), names: finder.names, separator };
    for await (const batch of this.#list(few, timeBudget)) {
      await nextTurn();
      const marked = writeMarked(documentsIn(batch), marking);
      const targets = await timeBudget.waitForNext(finder.find(wantedIn([marked], finder)));
      if (begun) yield separator;
      begun = true;
      yield* fillMarked(marked, targets);
    }
  }

  async *readEach(
    query: StoredQuery,
    { finder, timeBudget }: EachOptions,
  ): AsyncGenerator<readonly Buffer[]> {
    const writer = this.writerFor(query);
    for await (const batch of this.#list(query, timeBudget)) {
      const stored = documentsIn(batch);
      if (finder === undefined) yield stored.map((each) => writer.joined([each]));
      else {
        const marked = stored.map((each) => writeMarked([each], { writer, names: finder.names }));
        const targets = await timeBudget.waitForNext(finder.find(wantedIn(marked, finder)));
        yield marked.map((each) => Buffer.concat([...fillMarked(each, targets)]));
      }
    }
  }

  /** Gives the text of documents; a finder puts entities in the place of identifiers. The caller bounds the wait. */
  async joined(
    stored: readonly Buffer[],
    { projection, separator, finder }: Pick<StoredQuery, "projection" | "separator"> & {
      readonly finder?: TargetFinder | undefined;
    },
  ): Promise<Buffer> {
    const writer = this.writerFor({ projection });
    if (finder === undefined) return writer.joined(stored, separator);
    const marked = writeMarked(stored, { writer, names: finder.names, separator });
    const targets = await finder.find(wantedIn([marked], finder));
    return Buffer.concat([...fillMarked(marked, targets)]);
  }

  /** Reads what a query selects batch by batch. Without `timeBudget`, the caller limits the waits. */
  batches(query: StoredQuery, timeBudget?: TimeBudget): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { timeBudget });
  }

  async *entities(
    query: StoredQuery,
    { timeBudget, page, forChange = false }: EntitiesOptions,
  ): AsyncGenerator<readonly StoredEntity[]> {
    const isPage = page !== undefined;
    const selected = forChange ? query : this.selected(query);
    // The end of a page is read from its bytes after hooks have run.
    const make = this.#entityMaker(query, { copies: isPage, forChange });
    const batches = isPage ? this.batches(selected, timeBudget) : this.#list(selected, timeBudget);
    for await (const batch of batches) {
      const stored = documentsIn(batch);
      for (let start = 0; start < stored.length; start += MADE_AT_ONCE) {
        if (start > 0 && !isPage) await nextTurn();
        const some = stored.slice(start, start + MADE_AT_ONCE);
        for (const each of isPage ? some : []) noteEnd(each, page);
        yield some.map(make);
      }
    }
  }

  entity(stored: Buffer, query: StoredQuery, forChange = false): StoredEntity {
    return this.#entityMaker(query, { copies: true, forChange })(stored);
  }

  /** With `copies`, hooks that change bytes in place change a copy of them. */
  #entityMaker(
    query: StoredQuery,
    { copies, forChange = false }: { readonly copies: boolean; readonly forChange?: boolean },
  ): (stored: Buffer) => StoredEntity {
    const writer = this.writerFor(query);
    const unseen = (query.also ?? []).filter((path) => !writer.shows(path));
    // As the driver does it on the connection of the model.
    const options = { ...this.#model.db.getClient().bsonOptions, validation: { utf8: false } };
    const toDocument = (values: object) => this.#document(values, forChange);
    return (stored) => {
      const bytes = copies ? Buffer.from(stored) : stored;
      const values = mongoose.mongo.BSON.deserialize(bytes, options);
      for (const path of unseen) Reflect.deleteProperty(values, path);
      return new StoredEntity(values, toDocument);
    };
  }

  /** Makes the document that a query would give for stored values; one that is to be saved is whole. */
  #document(values: object, forChange: boolean): Document {
    if (forChange) return hydrateWithSnapshot(this.#model, values);
    // `hydrate()` would copy what it leaves out something of.
    const found = new this.#model(undefined, this.#unselected, FOUND) as Document;
    return found.init(values);
  }

  /** The query that reads no field which reads leave out: hooks would see it. */
  selected(query: StoredQuery): StoredQuery {
    const projection = isEmpty(query.projection)
      ? this.#selected
      : databaseProjection(query.projection, this.#shape);
    return { ...query, projection };
  }

  #list(query: StoredQuery, timeBudget: TimeBudget): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { timeBudget, listOf: this.#model.db });
  }

  #open({ conditions, projection: shown, options, also = [] }: StoredQuery): mongo.FindCursor {
    const { strictQuery: _strict, ...given } = options;
    const projection = uncovered(alsoReading(shown, also));
    return this.#model.collection.find(conditions, {
      ...given,
      ...Object.keys(projection).length > 0 && { projection },
    } as never) as unknown as mongo.FindCursor;
  }

  writerFor({ projection }: Pick<StoredQuery, "projection">): BsonToJson {
    if (Object.keys(projection).length === 0) return this.#writer;
    let writer = this.#partly.get(projection);
    if (writer === undefined) {
      writer = new BsonToJson({ model: this.#model, shape: this.#shape, projection });
      this.#partly.set(projection, writer);
    }
    return writer;
  }
}
