/** @terreno/api with anonymous requests; all of a list in one page, which it always counts. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import mongoose from "mongoose";
import { COLLECTIONS, PAGED, POPULATED, RANKED } from "../data.ts";
import { importPeer, listen, URI } from "./common.ts";
import { modelOf } from "./mongoose_items.ts";

const { modelRouter, Permissions } = await importPeer("@terreno/api");
const { default: passport } = await importPeer("passport");
const { Strategy } = await importPeer("passport-anonymous");
// Its routes ask both strategies, and requests of this bench have no token.
for (const name of ["jwt", "anonymous"]) passport.use(name, new Strategy());
await mongoose.connect(URI);
const app = express();
app.use(express.json());
const operations = ["list", "create", "read", "update"];
const allowed = operations.map((operation) => [operation, [Permissions.IsAny]]);
const permissions = { ...Object.fromEntries(allowed), delete: [] };
const all = { permissions, allowAnonymous: true, defaultLimit: 1_000_000, maxLimit: 1_000_000 };
for (const name of COLLECTIONS.keys()) app.use(`/${name}`, modelRouter(modelOf(name), all));
app.use(`/${PAGED}`, modelRouter(modelOf(RANKED), all));
const populatePaths = [{ path: "writer" }];
app.use(`/${POPULATED}`, modelRouter(modelOf(RANKED), { ...all, populatePaths }));
listen(app);
