import { assertEquals } from "@std/assert";
// @ts-types="express-types"
import express from "express";
import mongoose from "mongoose";
import { Framework, type ModelClass } from "../../../mod.ts";
import { start, type Started } from "../support.ts";
import { withoutMadeUp } from "./arbitrary_models.ts";
import { type FieldGiven, makeModel } from "./made_model.ts";

export type Shown = Record<string, unknown>;

/** A made model, served on both routes. */
export interface ServedMade extends Started {
  readonly model: ModelClass;
  /** Its collection, past Mongoose. */
  readonly stored: mongoose.mongo.Collection;
}

/** The body limit lets large documents in. Disposing drops the collection. */
export async function serveMade(fields: Record<string, FieldGiven>): Promise<ServedMade> {
  const collection = `made_${crypto.randomUUID()}`;
  const options = { collection, autoCreate: false, autoIndex: false };
  const model = makeModel(fields, { ...options, served: true });
  const app = express();
  app.use(express.json({ limit: "64mb" }), Framework.initialize({ models: [model] }));
  const served = await start(app);
  const stored = mongoose.connection.collection(collection) as never as mongoose.mongo.Collection;
  return {
    ...served,
    model,
    stored,
    async [Symbol.asyncDispose]() {
      await served.stop();
      await stored.drop();
    },
  };
}

export async function listsOf(app: ServedMade): Promise<unknown[]> {
  const [fast, slow] = await Promise.all([app.get<Shown[]>("/fast"), app.get<Shown[]>("/slow")]);
  assertEquals([fast.status, slow.status], [200, 200], `${fast.text} ${slow.text}`);
  return [fast.body, slow.body].map((body) => withoutMadeUp(body));
}
