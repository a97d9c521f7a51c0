import type { Buffer } from "node:buffer";
import type { Model, mongo } from "mongoose";
import { readBatches, readValues } from "../../../database/read_batches.ts";
import type { Batch, ReadMode } from "../../../database/read_batches.ts";
import type { TimeBudget } from "../../../database/time_budget.ts";
import type { Filter } from "../../../filter/filters.ts";
import type { Shape } from "../../../schema/fields/shape.ts";
import { databaseProjection } from "../../../filter/projection.ts";
import { StoredWriter } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";

const BATCH_SIZE = 1024;

/** A query whose answer is JSON text. */
export interface JsonQuery {
  /** The conditions, cast. */
  readonly conditions: Filter;
  /** What hooks project. */
  readonly projection: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
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

  constructor({ model, shape, mode = "reply" }: JsonReaderOptions) {
    this.#mode = mode;
    this.#model = model;
    this.#shape = shape;
    this.#writer = new StoredWriter({ model, shape });
  }

  /** Reads what a query selects: pieces of JSON text, each of one document or several with commas between. */
  async *read(query: JsonQuery, timeBudget: TimeBudget): AsyncGenerator<Buffer> {
    const writer = this.writerFor(query);
    for await (const batch of this.batches(query, timeBudget)) yield* writer.pieces(batch);
  }

  /** Reads what a query selects batch by batch. Without `timeBudget`, the caller limits the waits. */
  batches(query: JsonQuery, timeBudget?: TimeBudget): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { mode: this.#mode, timeBudget });
  }

  /** Reads what a query selects as values, several at a time, as Mongoose's `lean` gives them. */
  values(query: JsonQuery, timeBudget: TimeBudget): AsyncIterable<readonly object[]> {
    const projection = databaseProjection(query.projection, this.#shape);
    return readValues(this.#open({ ...query, projection }), timeBudget);
  }

  #open({ conditions, projection, options }: JsonQuery): mongo.FindCursor {
    const { strictQuery: _strict, ...given } = options;
    return this.#model.collection.find(conditions, {
      batchSize: BATCH_SIZE,
      ...given,
      ...Object.keys(projection).length > 0 && { projection },
    } as never) as unknown as mongo.FindCursor;
  }

  /** Gives the text of a whole document. */
  text(stored: Stored): Buffer {
    return this.#writer.text(stored);
  }

  writerFor({ projection }: JsonQuery): StoredWriter {
    if (Object.keys(projection).length === 0) return this.#writer;
    return new StoredWriter({ model: this.#model, shape: this.#shape, projection });
  }
}
