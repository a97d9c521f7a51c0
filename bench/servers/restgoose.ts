/** restgoose, whose hooks get documents. Its decorators are applied as functions. @module */
// @ts-types="npm:@types/express@^5"
import express, { type RequestHandler } from "express";
import mongoose from "mongoose";
import { COLLECTIONS, HOOKED, itemsOf, TARGETS } from "../plan/collections.ts";
import { keepStarred, type Starred } from "./support/hook.ts";
import { importPeer } from "./support/import_peer.ts";
import { listen } from "./support/listen.ts";
import { databaseUri } from "./support/settings.ts";

/** Declares a field; the type comes from the metadata that TypeScript would emit. */
type DecorateField = (options: object) => (target: object, key: string) => void;

/** What is used of it. */
interface Restgoose {
  readonly RestgooseModel: new () => object;
  readonly Restgoose: { initialize(): RequestHandler };
  readonly rest: (options: object) => (target: object) => void;
  readonly prop: DecorateField;
  readonly arrayProp: DecorateField;
  readonly all: (hooks?: object) => object;
  readonly one: () => object;
  readonly create: () => object;
  readonly update: () => object;
}

/** What `reflect-metadata` adds. */
interface WithMetadata {
  readonly defineMetadata: (name: string, value: unknown, target: object, key: string) => void;
}

const FIELDS = {
  title: String,
  text: String,
  author: String,
  stars: Number,
  price: Number,
  published: Boolean,
  created: Date,
};

const restgoose = await importPeer<Restgoose>("@xureilab/restgoose");
const { RestgooseModel, Restgoose, rest, prop, arrayProp, all, one, create, update } = restgoose;
const { defineMetadata } = Reflect as unknown as WithMetadata;

function declareItem(route: string, collection: string, methods: readonly object[]): void {
  class Item extends RestgooseModel {}
  // It tells models apart by the names of their classes
  Object.defineProperty(Item, "name", { value: route });
  for (const [key, type] of Object.entries(FIELDS)) {
    defineMetadata("design:type", type, Item.prototype, key);
    prop({ required: key.startsWith("t") })(Item.prototype, key);
  }
  arrayProp({ items: String })(Item.prototype, "tags");
  rest({ route: `/${route}`, methods, schemaOptions: { collection } })(Item);
}

for (const name of COLLECTIONS.keys()) {
  declareItem(name, name, [all(), one(), create(), update()]);
}
const preSend = (_req: unknown, item: Starred) => Promise.resolve(keepStarred(item));
declareItem(HOOKED, itemsOf(TARGETS), [all({ preSend })]);

// The first of these belongs to the old version of Mongoose that it wants
const options: object = { useUnifiedTopology: true, useNewUrlParser: true };
await mongoose.connect(databaseUri(), options);
const app = express();
app.use(express.json());
app.use(Restgoose.initialize());
listen(app, ["hook"]);
