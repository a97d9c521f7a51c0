/** express-restify-mongoose with its defaults, which are lean reads. @module */
// @ts-types="npm:@types/express@^5"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import type { Model } from "mongoose";
import { COLLECTIONS, itemsOf, LEAN_HOOKED, PAGED, POPULATED, TARGETS } from "../data.ts";
import { databaseUri, importPeer, keepAllStarred, listen } from "./common.ts";
import { type Item, itemModels, rankedModel } from "./mongoose_items.ts";

const postRead: RequestHandler = (req, _res, next) => {
  const { erm } = req as unknown as { readonly erm: { result: Item[] } };
  erm.result = keepAllStarred(erm.result);
  next();
};

const restify = await importPeer("express-restify-mongoose");
await mongoose.connect(databaseUri());
const app = express();
app.use(express.json());

function serve(name: string, model: Model<Item> | undefined, options: object = {}): void {
  if (model) restify.serve(app, model, { prefix: "", version: "", name, ...options });
}

const models = itemModels();
for (const name of COLLECTIONS.keys()) serve(name, models.get(name));
serve(LEAN_HOOKED, models.get(itemsOf(TARGETS)), { postRead });
const ranked = rankedModel();
serve(PAGED, ranked, { totalCountHeader: true });
serve(POPULATED, ranked);
listen(app);
