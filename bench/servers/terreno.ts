/** @terreno/api with anonymous requests; all of a list in one page, which it always counts. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import { COLLECTIONS, PAGED, POPULATED } from "../data.ts";
import { databaseUri, importPeer, listen } from "./common.ts";
import { itemModels, rankedModel } from "./mongoose_items.ts";

const { modelRouter, Permissions } = await importPeer("@terreno/api");
const { default: passport } = await importPeer("passport");
const { Strategy } = await importPeer("passport-anonymous");
// Its routes ask both strategies, and requests of this bench have no token.
for (const name of ["jwt", "anonymous"]) passport.use(name, new Strategy());
await mongoose.connect(databaseUri());
const app = express();
app.use(express.json());
const everybody = [Permissions.IsAny];
const [list, create, read, update] = Array.from({ length: 4 }, () => everybody);
const permissions = { list, create, read, update, delete: [] };
const most = 1_000_000;

function serve(name: string, model: unknown, more: object = {}): void {
  const options = { permissions, allowAnonymous: true, defaultLimit: most, maxLimit: most };
  app.use(`/${name}`, modelRouter(model, { ...options, ...more }));
}

const models = itemModels();
for (const name of COLLECTIONS.keys()) serve(name, models.get(name));
const ranked = rankedModel();
serve(PAGED, ranked);
serve(POPULATED, ranked, { populatePaths: [{ path: "writer" }] });
listen(app);
