/** Mongoose's models of the collections, with the schemas of Mongrove's classes. @module */
import mongoose from "mongoose";
import type { Model, SchemaDefinition } from "mongoose";
import * as data from "../data.ts";
import type { Starred } from "./common.ts";

export interface Item extends Starred {
  readonly [field: string]: unknown;
}

const ITEM = {
  title: { type: String, required: true },
  text: { type: String, required: true },
  author: String,
  stars: Number,
  price: Number,
  published: Boolean,
  created: Date,
  tags: [String],
};

const writer = { type: mongoose.Schema.Types.ObjectId, ref: data.WRITERS };
const OWNED = { ...ITEM, shop: String, createdBy: String, updatedBy: String, deletedAt: Date };

/** The fields of items, of wide collections, of classes with options, and of pages, which refer to writers. */
const FIELDS = new Map<string, SchemaDefinition>([
  ...[...data.COLLECTIONS.keys()].map((name) => [name, ITEM] as const),
  ...data.FIELD_COUNTS.map((count) => {
    return [data.wideOf(count), Object.fromEntries(data.wideFields(count))] as const;
  }),
  ...data.CLASS_OPTIONS.map((option) => [data.owned(option), OWNED] as const),
  [data.WRITERS, { name: { type: String, required: true }, about: String, joined: Date }],
  [data.RANKED, { ...ITEM, rank: Number, writer }],
]);

for (const [collection, fields] of FIELDS) {
  mongoose.model(collection, new mongoose.Schema(fields, { collection }));
}

export function modelOf(collection: string): Model<Item> {
  return mongoose.model<Item>(collection);
}
