import mongoose from "mongoose";
import type { Model } from "mongoose";
import type { Starred } from "./hook.ts";
import { databaseUri } from "./settings.ts";

/** An entity, as far as servers need to know it. */
export interface Item extends Starred {
  /** Any field. */
  readonly [field: string]: unknown;
}

/** Connects Mongoose to the database to serve. */
export async function connectMongoose(): Promise<void> {
  await mongoose.connect(databaseUri());
}

/** Gives Mongoose's model of a collection, with the schema that Mongrove's class has. */
export function itemModel(collection: string): Model<Item> {
  const schema = new mongoose.Schema({
    title: { type: String, required: true },
    text: { type: String, required: true },
    author: String,
    stars: Number,
    price: Number,
    published: Boolean,
    created: Date,
    tags: [String],
  }, { collection });
  return mongoose.model(collection, schema) as unknown as Model<Item>;
}
