/** express-restify-mongoose with its defaults, which are lean reads. @module */
// @ts-types="npm:@types/express@^5"
import express, { type Application, type RequestHandler } from "express";
import type { Model } from "mongoose";
import { COLLECTIONS, itemsOf, LEAN_HOOKED, TARGETS } from "../plan/collections.ts";
import { PAGED, POPULATED } from "../plan/ranked.ts";
import { keepAllStarred } from "./support/hook.ts";
import { importPeer } from "./support/import_peer.ts";
import { listen } from "./support/listen.ts";
import { connectMongoose, type Item, itemModel, rankedModel } from "./support/mongoose_item.ts";

/** What is used of it. */
interface Restify {
  readonly serve: (app: Application, model: Model<Item>, options: object) => string;
}

/** Where it keeps what it has read. */
interface Read {
  readonly erm: { result: Item[] };
}

const keep: RequestHandler = (req, _res, next) => {
  const { erm } = req as unknown as Read;
  erm.result = keepAllStarred(erm.result);
  next();
};

const { serve } = await importPeer<Restify>("express-restify-mongoose");
await connectMongoose();
const app = express();
app.use(express.json());
for (const name of COLLECTIONS.keys()) {
  const model = itemModel(name);
  serve(app, model, { prefix: "", version: "", name });
  if (name === itemsOf(TARGETS)) {
    serve(app, model, { prefix: "", version: "", name: LEAN_HOOKED, postRead: keep });
  }
}
const ranked = rankedModel();
serve(app, ranked, { prefix: "", version: "", name: PAGED, totalCountHeader: true });
serve(app, ranked, { prefix: "", version: "", name: POPULATED });
listen(app, ["lean-hook", "page", "populate"]);
