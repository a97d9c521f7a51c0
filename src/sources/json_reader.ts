import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import { toJson } from "../answers/to_json.ts";
import { readBatches } from "../database/read_batches.ts";
import type { Batch, ReadMode } from "../database/read_batches.ts";
import type { Patience } from "../database/patience.ts";
import type { Filter } from "../query/compile_filter.ts";
import { castFilter } from "./cast_filter.ts";
import { orderOf } from "./read_options.ts";
import { planJson } from "../shape/json_plan.ts";
import { readsPlainly } from "../shape/plain_reads.ts";
import type { Shape } from "../shape/shape.ts";
import { unselectedPaths } from "../shape/unselected_paths.ts";
import { JsonWriter } from "../transcode/json_writer.ts";
import type { Plan } from "../transcode/plan.ts";
import { transcodeArrayItems, transcodeOrDecode } from "../transcode/transcode.ts";

/** How many documents the database sends at a time. */
const BATCH_SIZE = 2000;

/** A query whose answer is JSON text. */
export interface JsonQuery {
  /** The conditions, not cast yet. */
  readonly conditions: Filter;
  /** The hooks' projection. */
  readonly projection: Readonly<Record<string, unknown>>;
  /** The options of the query. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** Options that the driver takes as they are; with any other, the mapper has to run the query. */
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
  readonly #plan: Plan;

  /**
   * @param model The model.
   * @param shape The shape of its schema.
   */
  constructor(model: Model<unknown>, shape: Shape) {
    this.#model = model;
    this.#shape = shape;
    this.#plan = planJson(model);
  }

  /** Whether this reader can run a query, as hooks have made it. */
  takes({ projection, options }: JsonQuery): boolean {
    return Object.keys(options).every((name) => DRIVER_OPTIONS.has(name)) &&
      Object.entries(projection).every(([path, value]) => this.#projects(path, value));
  }

  /** Whether a projection says what it says to the database: to the mapper, an object that is named is shown whole. */
  #projects(path: string, value: unknown): boolean {
    if (![1, 0, true, false].includes(value as never) || !/^[^.+$]+$/.test(path)) return false;
    return !value || !unselectedPaths(this.#shape).some((each) => each.startsWith(`${path}.`));
  }

  /** Reads what a query selects: pieces of JSON text, each of one document or several with commas between. */
  async *read(
    query: JsonQuery,
    patience: Patience,
    mode: ReadMode = "reply",
  ): AsyncGenerator<Buffer> {
    const plan = this.#planFor(query.projection);
    const cursor = this.#open(query, mode);
    for await (const batch of readBatches(cursor, patience, mode)) {
      yield* this.#write(batch, plan);
    }
  }

  #open({ conditions, projection, options }: JsonQuery, mode: ReadMode) {
    const { strictQuery: _strict, ...given } = options;
    const filter = castFilter(this.#model, conditions);
    const sort = orderOf(this.#model, given.sort);
    return this.#model.collection.find(filter, {
      batchSize: BATCH_SIZE,
      ...given,
      ...sort !== undefined && { sort },
      ...Object.keys(projection).length > 0 && { projection },
      raw: mode !== "plain",
    } as never) as unknown as mongoose.mongo.FindCursor;
  }

  #planFor(projection: JsonQuery["projection"]): Plan {
    return Object.keys(projection).length === 0 ? this.#plan : planJson(this.#model, projection);
  }

  *#write(batch: Batch, plan: Plan): Generator<Buffer> {
    if ("values" in batch) {
      for (const value of batch.values) yield Buffer.from(this.#asDocument(value, plan));
      return;
    }
    const size = "array" in batch ? batch.array.length : 64 * 1024;
    const out = new JsonWriter(size + (size >> 2) + 256);
    const documents = "array" in batch
      ? transcodeArrayItems(out, batch.array, batch.start, plan, (item) => this.#decode(item, plan))
      : this.#writeEach(out, batch.documents, plan);
    if (documents > 0) yield out.bytes.subarray(0, out.length);
  }

  #writeEach(out: JsonWriter, documents: readonly Buffer[], plan: Plan): number {
    for (const [index, document] of documents.entries()) {
      if (index > 0) out.text(",");
      transcodeOrDecode(out, document, 0, plan, (item) => this.#decode(item, plan));
    }
    return documents.length;
  }

  /** The long way, for what the transcoder does not know: the mapper makes a document. */
  #decode(bson: Uint8Array, plan: Plan): string {
    return this.#asDocument(
      mongoose.mongo.BSON.deserialize(bson, { validation: { utf8: false } }),
      plan,
    );
  }

  #asDocument(value: object, plan: Plan): string {
    return toJson(this.#model.hydrate(value, this.#leftOut(plan) as never), this.#shape);
  }

  /** What the database has sent and the answer does not show, as a projection. */
  #leftOut(plan: Plan): Record<string, 0> | undefined {
    const roots = [...this.#shape.fields.keys()].filter((name) => !plan.fields.has(name));
    const inner = unselectedPaths(this.#shape).filter((path) =>
      plan.fields.has(path.split(".")[0] as string)
    );
    const paths = [...roots, ...inner.filter((path) => path.includes("."))];
    return paths.length === 0 ? undefined : Object.fromEntries(paths.map((path) => [path, 0]));
  }
}
