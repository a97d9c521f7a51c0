/**
 * remult with its MongoDB provider; all of a list in one page. Its transport leaves relations out:
 * its clients send requests of their own for them.
 *
 * @module
 */
// @ts-types="npm:@types/express@^5"
import express, { type RequestHandler } from "express";
import type { mongo } from "mongoose";
import { COLLECTIONS } from "../plan/collections.ts";
import { PAGED, RANKED } from "../plan/ranked.ts";
import { importPeer } from "./support/import_peer.ts";
import { listen } from "./support/listen.ts";
import { databaseUri } from "./support/settings.ts";

/** The kinds of fields that are used. */
type FieldKind = "boolean" | "date" | "integer" | "json" | "number" | "string";

/** What is used of it. */
interface Remult {
  readonly Fields: Readonly<Record<FieldKind, (options?: object) => unknown>>;
  readonly describeEntity: (target: object, name: string, fields: object, options: object) => void;
}

/** What is used of its transport. */
interface Transport {
  readonly remultApi: (options: object) => RequestHandler;
}

/** What is used of its provider. */
interface Provider {
  readonly MongoDataProvider: new (db: mongo.Db, client: mongo.MongoClient, o: object) => object;
}

const [{ Fields, describeEntity }, { remultApi }, { MongoDataProvider }, { MongoClient }] =
  await Promise.all([
    importPeer<Remult>("remult"),
    importPeer<Transport>("remult/remult-express"),
    importPeer<Provider>("remult/remult-mongo"),
    importPeer<Pick<typeof mongo, "MongoClient">>("mongodb"),
  ]);

/** Makes an entity on a route; its transport calls the identifier `id`. */
function itemEntity(route: string, dbName: string = route, more: object = {}): object {
  class Item {}
  const id = { dbName: "_id", valueConverter: { fieldTypeInDb: "dbid" }, allowApiUpdate: false };
  describeEntity(Item, route, {
    id: Fields.string(id),
    title: Fields.string({ required: true }),
    text: Fields.string({ required: true }),
    author: Fields.string(),
    stars: Fields.integer(),
    price: Fields.number(),
    published: Fields.boolean(),
    created: Fields.date(),
    tags: Fields.json(),
    __v: Fields.integer({ allowApiUpdate: false }),
    ...more,
  }, { allowApiCrud: true, dbName });
  return Item;
}

const client = await new MongoClient(databaseUri()).connect();
const dataProvider = new MongoDataProvider(client.db(), client, { disableTransactions: true });
const writer = Fields.string({ valueConverter: { fieldTypeInDb: "dbid" } });
const paged = itemEntity(PAGED, RANKED, { rank: Fields.integer(), writer });
const app = express();
app.use(remultApi({
  rootPath: "",
  admin: false,
  entities: [...[...COLLECTIONS.keys()].map((name) => itemEntity(name)), paged],
  dataProvider: () => Promise.resolve(dataProvider),
}));
listen(app, ["page"]);
