import { Buffer } from "node:buffer";
import type { Model, mongo } from "mongoose";
import { ListTurn } from "../../../database/lists/list_turn.ts";
import { awaitLoopTurn } from "../../../database/lists/loop_turn.ts";
import { readBatches, readValues } from "../../../database/lists/read_batches.ts";
import type {
  Batch,
  OpenCursor,
  ReadBatchesOptions,
  ReadListOptions,
  ReadMode,
} from "../../../database/lists/read_batches.ts";
import type { TimeBudget } from "../../../database/time_budget.ts";
import type { Filter } from "../../../filter/filters.ts";
import type { Shape } from "../../../schema/fields/shape.ts";
import { alsoReading, databaseProjection, uncovered } from "../../../filter/projection.ts";
import { fillMarked, wantedIn } from "../../../json/populate/marked_json.ts";
import type { TargetFinder } from "../../../json/populate/targets.ts";
import { LateText } from "./late_text.ts";
import { writeMarked } from "./marked_writer.ts";
import { sizeOf, storedIn, StoredWriter } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";

const BATCH_SIZE = 1024;

/** How many documents are held while the entities that they name are read. */
const POPULATED_AT_ONCE = 128;

export interface JsonQuery {
  /** The conditions, cast. */
  readonly conditions: Filter;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
  /** A path that is read besides, and not shown. */
  readonly also?: string | undefined;
}

export interface JsonReaderOptions {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  /** The best way to try to read batches. */
  readonly mode?: ReadMode;
}

/** Reads stored documents as JSON text, without making documents of them. */
export class JsonReader {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #writer: StoredWriter;
  readonly #mode: ReadMode;
  /** Writers for parts of documents. A projection that belongs to a route is always the same object. */
  readonly #partly = new WeakMap<object, StoredWriter>();

  constructor({ model, shape, mode = "reply" }: JsonReaderOptions) {
    this.#mode = mode;
    this.#model = model;
    this.#shape = shape;
    this.#writer = new StoredWriter({ model, shape });
  }

  /** Reads what a query selects: pieces of JSON text, each of one document or several with commas between. */
  async *read(query: JsonQuery, timeBudget: TimeBudget): AsyncGenerator<Buffer> {
    const writer = this.writerFor(query);
    const turn = new ListTurn(this.#model.db);
    for await (const batch of this.#batches(query, { timeBudget, turn })) {
      const text = await writer.list(batch);
      turn.pass();
      if (text.length > 0) yield text;
    }
  }

  /** The same, with entities in the place of identifiers: for each batch, the finder is asked once. */
  async *readPopulated(
    { options, ...query }: JsonQuery,
    { finder, timeBudget }: { readonly finder: TargetFinder; readonly timeBudget: TimeBudget },
  ): AsyncGenerator<Buffer> {
    const few = { ...query, options: { ...options, batchSize: POPULATED_AT_ONCE } };
    const marking = { writer: this.writerFor(query), names: finder.names };
    const turn = new ListTurn(this.#model.db);
    for await (const batch of this.#batches(few, { timeBudget, turn })) {
      const stored = storedIn(batch);
      await awaitLoopTurn(sizeOf(stored));
      const marked = writeMarked(stored, marking);
      turn.pass();
      const targets = finder.find(wantedIn([marked], finder));
      yield* fillMarked(marked, await timeBudget.waitForNext(targets));
    }
  }

  /**
   * Gives the text of documents with commas between them; a finder puts entities in the place of identifiers. The caller
   * bounds the wait.
   */
  async joined(
    stored: readonly Stored[],
    { projection, finder }: Pick<JsonQuery, "projection"> & {
      readonly finder?: TargetFinder | undefined;
    },
  ): Promise<Buffer> {
    const writer = this.writerFor({ projection });
    if (finder === undefined) return writer.joined(stored);
    const marked = writeMarked(stored, { writer, names: finder.names });
    const targets = await finder.find(wantedIn([marked], finder));
    return Buffer.concat([...fillMarked(marked, targets)]);
  }

  /** Reads what a query selects batch by batch. Without `timeBudget`, the caller limits the waits. */
  batches(query: JsonQuery, timeBudget?: TimeBudget): AsyncGenerator<Batch> {
    return this.#batches(query, { timeBudget });
  }

  batchesOf(cursor: OpenCursor): AsyncGenerator<Batch> {
    return readBatches(cursor, { mode: this.#mode });
  }

  /** Reads what a query selects as values, several at a time, as Mongoose's `lean` gives them. */
  values(query: JsonQuery, options: ReadListOptions): AsyncIterable<readonly object[]> {
    const projection = databaseProjection(query.projection, this.#shape);
    return readValues(this.#open({ ...query, projection }), options);
  }

  #batches(query: JsonQuery, options: Omit<ReadBatchesOptions, "mode">): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { mode: this.#mode, ...options });
  }

  #open({ conditions, projection: shown, options, also }: JsonQuery): mongo.FindCursor {
    const { strictQuery: _strict, ...given } = options;
    const projection = uncovered(also === undefined ? shown : alsoReading(shown, also));
    return this.#model.collection.find(conditions, {
      batchSize: BATCH_SIZE,
      ...given,
      ...Object.keys(projection).length > 0 && { projection },
    } as never) as unknown as mongo.FindCursor;
  }

  /** Gives the text of a whole document, to be made when it is needed. */
  late(stored: Stored): LateText {
    return new LateText(this.#writer, stored);
  }

  text(stored: Stored): Buffer {
    return this.#writer.text(stored);
  }

  writerFor({ projection }: Pick<JsonQuery, "projection">): StoredWriter {
    if (Object.keys(projection).length === 0) return this.#writer;
    let writer = this.#partly.get(projection);
    if (writer === undefined) {
      writer = new StoredWriter({ model: this.#model, shape: this.#shape, projection });
      this.#partly.set(projection, writer);
    }
    return writer;
  }
}
