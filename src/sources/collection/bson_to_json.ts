import mongoose from "mongoose";
import type { Buffer } from "node:buffer";
import type { Model } from "mongoose";
import { toJsonValue } from "../../json/to_json.ts";
import { type Batch, encodeBson } from "../../store/read_batches.ts";
import { nextTurn } from "../../errors/event_loop.ts";
import { type Projection, shownBy, type Shows } from "../../filter/projection.ts";
import { topOf } from "../../filter/filters.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { BsonReader } from "../../json/bytes/bson_reader.ts";
import { JsonWriter, type Separator } from "../../json/bytes/json_writer.ts";
import { DocumentWriter } from "../../json/transcode/transcoder.ts";
import { type Plan, planJson } from "../../json/transcode/plan.ts";
import { type MarkedJson, Marking } from "../../json/populate.ts";

/** The bytes that one turn of the event loop converts. */
const PORTION = 16 * 1024;

interface StoredJsonOptions {
  readonly model: Model<unknown>;
  readonly shape: Shape;
  readonly projection?: Projection;
  readonly leftOut?: readonly string[];
}

/** Writes stored bytes as JSON. If a value has another type than its field, Mongoose makes the JSON. */
export class BsonToJson {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly plan: Plan;
  readonly #shows: Shows;
  readonly #documents: DocumentWriter;

  constructor({ model, shape, projection = {}, leftOut = [] }: StoredJsonOptions) {
    this.#model = model;
    this.#shape = shape;
    const shows = shownBy(projection, shape);
    const isLeftOut = (path: string) => leftOut.includes(topOf(path));
    this.#shows = (path, field) => !isLeftOut(path) && shows(path, field);
    this.plan = planJson(shape, this.#shows);
    const decode = (bson: Buffer) => this.#hydrated(decodeBson(bson));
    this.#documents = new DocumentWriter(this.plan, { decode });
  }

  shows(path: string): boolean {
    const name = topOf(path);
    const field = this.#shape.fields.get(name);
    return field !== undefined && this.#shows(name, field);
  }

  async list(batch: Batch, separator?: Separator): Promise<Buffer> {
    const { array, start } = batch;
    const source = new BsonReader(array, start);
    const out = writerFor(array.length);
    const writing = this.#documents.array(source, { out, separator, most: PORTION });
    const isLong = array.length > PORTION;
    do if (isLong) await nextTurn(); while (!writing.next().done);
    return out.written;
  }

  concat(stored: readonly Buffer[], separator?: Separator): Buffer {
    return writeJoined(this.#documents, { stored, separator });
  }

  joinedBy(
    all: readonly { readonly stored: Buffer; readonly writer: BsonToJson }[],
    separator: Separator,
  ): Buffer {
    const out = writerFor(all.reduce((sum, { stored: { length } }) => sum + length, 0));
    for (const [index, { stored, writer }] of all.entries()) {
      if (index > 0) out.ascii(separator);
      writer.#documents.document(new BsonReader(stored), out);
    }
    return out.written;
  }

  /** If BSON cannot encode the values without a loss, Mongoose makes the JSON. */
  text(values: object): Buffer | string {
    const bytes = encodeBson(values);
    return bytes === undefined ? this.#hydrated(values) : this.concat([bytes]);
  }

  #hydrated(values: object): string {
    return JSON.stringify(this.hydrate(values)) ?? "null";
  }

  hydrate(values: object): unknown {
    return toJsonValue(this.#model.hydrate(values, this.#leftOut() as never), this.#shape);
  }

  #leftOut(): Record<string, 0> | undefined {
    const { fields } = this.plan;
    const roots = [...this.#shape.fields.keys()].filter((name) => !fields.has(name));
    const inner = this.#shape.unselected.filter((path) =>
      path.includes(".") && fields.has(topOf(path))
    );
    return withoutPaths([...roots, ...inner]);
  }
}

export function withoutPaths(paths: readonly string[]): Record<string, 0> | undefined {
  return paths.length === 0 ? undefined : Object.fromEntries(paths.map((path) => [path, 0]));
}

function writerFor(length: number): JsonWriter {
  return new JsonWriter(length + (length >> 2) + 256);
}

export function decodeBson(document: Buffer): object {
  return mongoose.mongo.BSON.deserialize(document, { validation: { utf8: false } });
}

interface JoinedOptions {
  readonly stored: readonly Buffer[];
  readonly out?: JsonWriter;
  readonly separator?: Separator | undefined;
}

function writeJoined(
  documents: DocumentWriter,
  { stored, out = writerFor(sizeOf(stored)), separator = "," }: JoinedOptions,
): Buffer {
  for (const [index, each] of stored.entries()) {
    if (index > 0) out.ascii(separator);
    documents.document(new BsonReader(each), out);
  }
  return out.written;
}

function sizeOf(stored: readonly Buffer[]): number {
  return stored.reduce((sum, { length }) => sum + length, 0);
}

export function writeMarked(
  stored: readonly Buffer[],
  { writer, names, separator }: {
    readonly writer: BsonToJson;
    readonly names: ReadonlySet<string>;
    readonly separator?: Separator | undefined;
  },
): MarkedJson {
  const marking = new Marking(names);
  const out = writerFor(sizeOf(stored));
  const decode = (bson: Buffer): string => {
    marking.replace(out.length, writer.hydrate(decodeBson(bson)));
    return "";
  };
  const documents = new DocumentWriter(writer.plan, { decode, fieldWriter: marking });
  const written = writeJoined(documents, { stored, out, separator });
  return { written, marks: marking.marks };
}
