import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Document, Model, mongo } from "mongoose";
import {
  type Batch,
  MADE_AT_ONCE,
  POPULATED_AT_ONCE,
  readBatches,
} from "../../store/read_batches.ts";
import { nextTurn } from "../../errors/event_loop.ts";
import type { TimeBudget } from "../../store/time_budget.ts";
import { type Filter, isEmpty } from "../../filter/filters.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { alsoReading, databaseProjection, uncovered } from "../../filter/projection.ts";
import { documentsIn } from "../../json/bytes/bson_reader.ts";
import type { JsonPiece, Separator } from "../../json/bytes/json_writer.ts";
import { fillMarked, type TargetFinder, wantedIn } from "../../json/populate.ts";
import { BsonToJson, withoutPaths, writeMarked } from "./bson_to_json.ts";
import { hydrateWithSnapshot } from "../../write/stored_values.ts";
import { noteEnd } from "../window_end.ts";
import { foundDocument } from "./found_document.ts";
import { NamedReader } from "./named_reader.ts";
import type { PageRead } from "../source.ts";

export interface StoredQuery {
  /** The driver does not cast, so the conditions are cast already. */
  readonly conditions: Filter;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** Paths that are read for the framework, such as sort values, but not shown. */
  readonly also?: readonly string[] | undefined;
  readonly separator?: Separator | undefined;
  /** The projection without the client's `select`. A cursor has only sort values that this projection shows. */
  readonly whole?: Readonly<Record<string, unknown>> | undefined;
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
  readonly forChange?: boolean | undefined;
}

/** A stored entity whose Mongoose document is made only on demand, because documents are slow to make. */
export class StoredEntity {
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

export class BsonReads {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #writer: BsonToJson;
  readonly #selected: StoredQuery["projection"];
  readonly #unselected: Record<string, 0> | undefined;
  readonly #partly = new WeakMap<object, BsonToJson>();
  readonly #without = new WeakMap<BsonToJson, Map<string, BsonToJson>>();
  readonly #named = new WeakMap<readonly string[], NamedReader>();
  readonly #namedForChange = new WeakMap<readonly string[], NamedReader>();

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
    // No variable holds the bytes while a slow client receives a text, so memory is freed.
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
      if (finder === undefined) yield stored.map((each) => writer.concat([each]));
      else {
        const marked = stored.map((each) => writeMarked([each], { writer, names: finder.names }));
        const targets = await timeBudget.waitForNext(finder.find(wantedIn(marked, finder)));
        yield marked.map((each) => Buffer.concat([...fillMarked(each, targets)]));
      }
    }
  }

  async concat(
    stored: readonly Buffer[],
    { projection, separator, finder }: Pick<StoredQuery, "projection" | "separator"> & {
      readonly finder?: TargetFinder | undefined;
    },
  ): Promise<Buffer> {
    const writer = this.writerFor({ projection });
    if (finder === undefined) return writer.concat(stored, separator);
    const marked = writeMarked(stored, { writer, names: finder.names, separator });
    const targets = await finder.find(wantedIn([marked], finder));
    return Buffer.concat([...fillMarked(marked, targets)]);
  }

  batches(query: StoredQuery, timeBudget?: TimeBudget): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { timeBudget });
  }

  longList(query: StoredQuery, timeBudget: TimeBudget): AsyncGenerator<Batch> {
    return this.#list(query, timeBudget);
  }

  named(names: readonly string[], forChange = false): NamedReader {
    const readers = forChange ? this.#namedForChange : this.#named;
    let reader = readers.get(names);
    if (reader === undefined) {
      reader = new NamedReader({ model: this.#model, shape: this.#shape, names, forChange });
      readers.set(names, reader);
    }
    return reader;
  }

  async *entities(
    query: StoredQuery,
    { timeBudget, page, forChange = false }: EntitiesOptions,
  ): AsyncGenerator<readonly StoredEntity[]> {
    const isPage = page !== undefined;
    const selected = forChange ? query : this.selected(query);
    // Hooks may change bytes in place, but the cursor needs the stored ones, so entities get copies.
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

  #entityMaker(
    query: StoredQuery,
    { copies, forChange = false }: { readonly copies: boolean; readonly forChange?: boolean },
  ): (stored: Buffer) => StoredEntity {
    const writer = this.writerFor(query);
    const unseen = (query.also ?? []).filter((path) => !writer.shows(path));
    // The driver decodes with these options for queries of the application, so hooks get equal values.
    const options = { ...this.#model.db.getClient().bsonOptions, validation: { utf8: false } };
    const toDocument = (values: object) => this.#document(values, forChange);
    return (stored) => {
      const bytes = copies ? Buffer.from(stored) : stored;
      const values = mongoose.mongo.BSON.deserialize(bytes, options);
      for (const path of unseen) Reflect.deleteProperty(values, path);
      return new StoredEntity(values, toDocument);
    };
  }

  #document(values: object, forChange: boolean): Document {
    if (forChange) return hydrateWithSnapshot(this.#model, values);
    return foundDocument(this.#model, { values, projection: this.#unselected });
  }

  /** Hooks must not see fields with `select: false`. */
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

  writerFor(
    { projection }: Pick<StoredQuery, "projection">,
    leftOut: readonly string[] = [],
  ): BsonToJson {
    const writer = this.#projected(projection);
    if (leftOut.length === 0) return writer;
    const writers = this.#without.get(writer) ?? new Map<string, BsonToJson>();
    this.#without.set(writer, writers);
    const key = leftOut.join("\0");
    const model = this.#model;
    const without = writers.get(key) ??
      new BsonToJson({ model, shape: this.#shape, projection, leftOut });
    writers.set(key, without);
    return without;
  }

  #projected(projection: StoredQuery["projection"]): BsonToJson {
    if (Object.keys(projection).length === 0) return this.#writer;
    let writer = this.#partly.get(projection);
    if (writer === undefined) {
      writer = new BsonToJson({ model: this.#model, shape: this.#shape, projection });
      this.#partly.set(projection, writer);
    }
    return writer;
  }
}
