import mongoose from "mongoose";
import type { Model, SchemaDefinition } from "mongoose";
import { COLLECTIONS } from "../../plan/collections.ts";
import { FIELD_COUNTS, wideFields, wideOf } from "../../plan/growth.ts";
import { RANKED, WRITERS } from "../../plan/ranked.ts";
import type { Starred } from "./hook.ts";
import { databaseUri } from "./settings.ts";

/** An entity, as far as servers need to know it. */
export interface Item extends Starred {
  /** Any field. */
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

/** Connects Mongoose to the database to serve. */
export async function connectMongoose(): Promise<void> {
  await mongoose.connect(databaseUri());
}

/** Gives Mongoose's model of a collection, with the schema that Mongrove's class has. */
export function itemModel(collection: string): Model<Item> {
  return makeModel(collection, ITEM);
}

/** Gives Mongoose's models of all collections that are served. */
export function itemModels(): Map<string, Model<Item>> {
  const wide = FIELD_COUNTS.map((count): [string, SchemaDefinition] => {
    return [wideOf(count), Object.fromEntries(wideFields(count))];
  });
  return new Map([
    ...[...COLLECTIONS.keys()].map((name) => [name, itemModel(name)] as const),
    ...wide.map(([name, fields]) => [name, makeModel(name, fields)] as const),
  ]);
}

/** Gives Mongoose's models of what is read in pages, and of what that refers to. */
export function rankedModel(): Model<Item> {
  makeModel(WRITERS, { name: { type: String, required: true }, about: String, joined: Date });
  const writer = { type: mongoose.Schema.Types.ObjectId, ref: WRITERS };
  return makeModel(RANKED, { ...ITEM, rank: Number, writer });
}

function makeModel(collection: string, fields: SchemaDefinition): Model<Item> {
  const schema = new mongoose.Schema(fields, { collection });
  return mongoose.model(collection, schema) as unknown as Model<Item>;
}
