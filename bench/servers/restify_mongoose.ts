/** express-restify-mongoose with its defaults, which are lean reads. @module */
// @ts-types="npm:@types/express@^5"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import { COLLECTIONS, itemsOf, LEAN_HOOKED, PAGED, POPULATED, RANKED, TARGETS } from "../data.ts";
import { importPeer, keepAllStarred, listen, URI } from "./common.ts";
import { type Item, modelOf } from "./mongoose_items.ts";

const postRead: RequestHandler = (req, _res, next) => {
  const { erm } = req as unknown as { readonly erm: { result: Item[] } };
  erm.result = keepAllStarred(erm.result);
  next();
};

const restify = await importPeer("express-restify-mongoose");
await mongoose.connect(URI);
const app = express();
app.use(express.json());

function serve(name: string, collection: string, options: object = {}): void {
  const all = { prefix: "", version: "", name, ...options };
  restify.serve(app, modelOf(collection), all);
}

for (const name of COLLECTIONS.keys()) serve(name, name);
serve(LEAN_HOOKED, itemsOf(TARGETS), { postRead });
serve(PAGED, RANKED, { totalCountHeader: true });
serve(POPULATED, RANKED);
listen(app);
