import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { toJson } from "../../../json/to_json.ts";
import { fitStored } from "../../../schema/mongoose/documents/read_misfits.ts";
import { encodeValues } from "./encode_values.ts";
import { planJson } from "./json_plan.ts";
import type { Projection } from "../../../filter/projection/projected.ts";
import type { Shape } from "../../../schema/fields/shape.ts";
import { unselectedPaths } from "../../../schema/fields/unselected_paths.ts";
import { JsonWriter } from "../../../json/transcode/json_writer.ts";
import type { Plan } from "../../../json/transcode/plan.ts";
import { transcodeArrayItems, transcodeOrDecode } from "../../../json/transcode/documents.ts";

/** A stored document: its bytes, or what the driver has made of them. */
export type Stored = Buffer | object;

/** Writes stored documents of a model as JSON text: byte by byte, and by Mongoose where only that knows. */
export class StoredWriter {
  readonly #model: Model<unknown>;
  readonly #shape: Shape;
  readonly #plan: Plan;

  /**
   * @param model The model.
   * @param shape The shape of its schema.
   * @param projection What hooks project.
   */
  constructor(model: Model<unknown>, shape: Shape, projection: Projection = {}) {
    this.#model = model;
    this.#shape = shape;
    this.#plan = planJson(shape, projection);
  }

  /** Writes a document; gives the position after it. */
  document(out: JsonWriter, source: Buffer, start: number): number {
    return transcodeOrDecode(out, source, start, this.#plan, (bson) => this.#decode(bson));
  }

  /** Writes the documents of a BSON array with commas between them; tells how many there were. */
  array(out: JsonWriter, source: Buffer, start: number): number {
    return transcodeArrayItems(out, source, start, this.#plan, (bson) => this.#decode(bson));
  }

  /** Gives the text of a document. */
  text(stored: Stored): Buffer {
    const bytes = stored instanceof Buffer ? stored : encodeValues(stored);
    if (bytes === undefined) return Buffer.from(this.#hydrate(stored));
    const out = new JsonWriter(bytes.length + (bytes.length >> 2) + 256);
    this.document(out, bytes, 0);
    return out.written;
  }

  #decode(bson: Buffer): string {
    return this.#hydrate(decodeBson(bson));
  }

  #hydrate(values: object): string {
    fitStored(this.#model.schema as Schema, values);
    return toJson(this.#model.hydrate(values, this.#leftOut() as never), this.#shape);
  }

  /** What the database has sent and the answer does not show, as a projection. */
  #leftOut(): Record<string, 0> | undefined {
    const { fields } = this.#plan;
    const roots = [...this.#shape.fields.keys()].filter((name) => !fields.has(name));
    const inner = unselectedPaths(this.#shape).filter((path) =>
      path.includes(".") && fields.has(path.split(".")[0] as string)
    );
    const paths = [...roots, ...inner];
    return paths.length === 0 ? undefined : Object.fromEntries(paths.map((path) => [path, 0]));
  }
}

/** Decodes a document as the driver does. */
export function decodeBson(document: Buffer): object {
  return mongoose.mongo.BSON.deserialize(document, { validation: { utf8: false } });
}
