/** Mongoose's models of the collections, with the schemas of Mongrove's classes. @module */
import mongoose from "mongoose";
import type { Model, SchemaDefinition } from "mongoose";
import { CLASS_OPTIONS, COLLECTIONS, FIELD_COUNTS, owned, RANKED, wideFields } from "../data.ts";
import { wideOf, WRITERS } from "../data.ts";
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

/** Returns the models of all collections of items, of wide collections, and of classes with options. */
export function itemModels(): ReadonlyMap<string, Model<Item>> {
  const wide = FIELD_COUNTS.map((count): [string, SchemaDefinition] => {
    return [wideOf(count), Object.fromEntries(wideFields(count))];
  });
  const items = [...COLLECTIONS.keys()].map((name): [string, SchemaDefinition] => [name, ITEM]);
  const ownedItems = CLASS_OPTIONS.map((option): [string, SchemaDefinition] => {
    const fields = { ...ITEM, shop: String, createdBy: String, updatedBy: String };
    return [owned(option), option === "trash" ? { ...fields, deletedAt: Date } : fields];
  });
  return new Map(
    [...items, ...wide, ...ownedItems].map(([name, fields]) => [name, modelOf(name, fields)]),
  );
}

/** Returns the model of the entities of pages, which refer to writers. */
export function rankedModel(): Model<Item> {
  modelOf(WRITERS, { name: { type: String, required: true }, about: String, joined: Date });
  const writer = { type: mongoose.Schema.Types.ObjectId, ref: WRITERS };
  return modelOf(RANKED, { ...ITEM, rank: Number, writer });
}

function modelOf(collection: string, fields: SchemaDefinition): Model<Item> {
  const schema = new mongoose.Schema(fields, { collection });
  return mongoose.model(collection, schema) as unknown as Model<Item>;
}
