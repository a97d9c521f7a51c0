import type { Buffer } from "node:buffer";
import type { Model, mongo } from "mongoose";
import { readBatches, readValues } from "../../../database/read_batches.ts";
import type { Batch, ReadMode } from "../../../database/read_batches.ts";
import type { Patience } from "../../../database/patience.ts";
import type { Filter } from "../../../filter/q/compile_filter.ts";
import { readsPlainly } from "./reads_plainly.ts";
import type { Shape } from "../../../schema/fields/shape.ts";
import { unselectedPaths } from "../../../schema/fields/unselected_paths.ts";
import { JsonWriter } from "../../../json/transcode/json_writer.ts";
import { projectionOf } from "../../../filter/projection/projection_of.ts";
import { StoredWriter } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";

/** How many documents the database sends at a time. */
const BATCH_SIZE = 1024;

/** A query whose answer is JSON text. */
export interface JsonQuery {
  /** The conditions, cast. */
  readonly conditions: Filter;
  /** The hooks' projection. */
  readonly projection: Readonly<Record<string, unknown>>;
  /** The options of the query. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Options that the driver takes as they are; with any other, Mongoose has to run the query. */
const DRIVER_OPTIONS = new Set([
  "skip",
  "limit",
  "sort",
  "maxTimeMS",
  "hint",
  "comment",
  "strictQuery",
  "collation",
  "enableUtf8Validation",
]);

const readers = new WeakMap<Model<unknown>, JsonReader | null>();

/** Gives the reader of a model, `undefined` where its documents show something else than what is stored. */
export function jsonReader(model: Model<unknown>, shape: Shape): JsonReader | undefined {
  let reader = readers.get(model);
  if (reader === undefined) {
    reader = readsPlainly(model) ? new JsonReader(model, shape) : null;
    readers.set(model, reader);
  }
  return reader ?? undefined;
}

/** Reads stored documents as JSON text, without making documents of them. */
export class JsonReader {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #writer: StoredWriter;
  readonly #mode: ReadMode;

  /**
   * @param model The model.
   * @param shape The shape of its schema.
   * @param mode The best way to try to read batches.
   */
  constructor(model: Model<unknown>, shape: Shape, mode: ReadMode = "reply") {
    this.#mode = mode;
    this.#model = model;
    this.#shape = shape;
    this.#writer = new StoredWriter(model, shape);
  }

  /** Whether this reader can run a query, as hooks have made it. */
  takes({ projection, options }: Omit<JsonQuery, "conditions">): boolean {
    return Object.keys(options).every((name) => DRIVER_OPTIONS.has(name)) &&
      Object.entries(projection).every(([path, value]) => this.#projects(path, value));
  }

  /** Whether a projection says what it says to the database: to Mongoose, an object that is named is shown whole. */
  #projects(path: string, value: unknown): boolean {
    if (![1, 0, true, false].includes(value as never) || !/^[^.+$]+$/.test(path)) return false;
    return !value || !unselectedPaths(this.#shape).some((each) => each.startsWith(`${path}.`));
  }

  /** Reads what a query selects: pieces of JSON text, each of one document or several with commas between. */
  async *read(query: JsonQuery, patience: Patience): AsyncGenerator<Buffer> {
    const writer = this.writerFor(query);
    for await (const batch of this.batches(query, patience)) yield* writePieces(batch, writer);
  }

  /** Reads what a query selects batch by batch. Without patience, the waits are bounded by whoever asks. */
  batches(query: JsonQuery, patience?: Patience): AsyncGenerator<Batch> {
    return readBatches(this.#open(query), { mode: this.#mode, patience });
  }

  /** Reads what a query selects as values, several at a time: what a read of Mongoose gives that makes no documents. */
  values(query: JsonQuery, patience: Patience): AsyncIterable<readonly object[]> {
    const projection = projectionOf(query.projection, this.#shape);
    return readValues(this.#open({ ...query, projection }), patience);
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

  /** Gives what writes the documents of a query. */
  writerFor({ projection }: JsonQuery): StoredWriter {
    if (Object.keys(projection).length === 0) return this.#writer;
    return new StoredWriter(this.#model, this.#shape, projection);
  }
}

function* writePieces(batch: Batch, writer: StoredWriter): Generator<Buffer> {
  if ("values" in batch) {
    for (const value of batch.values) yield writer.text(value);
    return;
  }
  const size = batch.array.length;
  const out = new JsonWriter(size + (size >> 2) + 256);
  if (writer.array(out, batch.array, batch.start) > 0) yield out.written;
}
