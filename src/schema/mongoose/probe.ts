import mongoose from "mongoose";
import type { Document, Model, Schema, SchemaType } from "mongoose";
import { makeDetachedConnection } from "./connections.ts";

export interface Probe {
  /** The schema, as it was before it became a model. */
  readonly schema: Schema;
  readonly model: Model<unknown>;
  readonly doc: Document;
}

export type ProbeFields =
  & Readonly<Record<"text" | "number" | "date" | "immutable" | "own", SchemaType>>
  & Readonly<Record<"set" | "cast" | "atTimes" | "computed" | "list" | "computedList", SchemaType>>;

export function makeProbe(): Probe {
  // Not the host's: its plugins and settings are the user's own.
  const bare = new mongoose.Mongoose();
  const { Schema } = bare;
  const schema = new Schema({
    text: { type: String, required: true, enum: ["a"], match: /a/, trim: true, lowercase: true },
    number: { type: Number, default: "5", min: 1, max: 9, enum: [5] },
    date: { type: Date, default: Date.now, min: new Date(0), max: new Date(), required: true },
    computed: { type: String, default: () => "made" },
    atTimes: { type: String, required: () => true },
    set: { type: String, set: (value: string) => value },
    cast: { type: String, cast: (value: unknown) => String(value) },
    own: {
      type: String,
      validate: function (this: unknown) {
        return this !== null;
      },
    },
    immutable: { type: String, immutable: true },
    list: [String],
    computedList: { type: [String], default: () => ["made"] },
    map: { type: Map, of: new Schema({ text: String }) },
    inner: new Schema({ text: String }),
    inners: [new Schema({ text: String })],
  }, { timestamps: { createdAt: "made" }, autoCreate: false, autoIndex: false });
  schema.virtual("shown").get(() => "");
  const model = makeDetachedConnection(bare).model<unknown>("Probe", schema.clone() as Schema);
  const stored = { _id: new mongoose.Types.ObjectId(), text: "a", number: 5, inner: { text: "a" } };
  return { schema: schema as Schema, model, doc: model.hydrate(stored) as Document };
}
