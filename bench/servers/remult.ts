/** remult with its MongoDB provider; all of a list in one page. Its clients send other requests for relations. @module */
// @ts-types="npm:@types/express@^5"
import express from "express";
import { COLLECTIONS, PAGED, RANKED } from "../data.ts";
import { importPeer, listen, URI } from "./common.ts";

const { Fields, describeEntity } = await importPeer("remult");
const { remultApi } = await importPeer("remult/remult-express");
const { MongoDataProvider } = await importPeer("remult/remult-mongo");
const { MongoClient } = await importPeer("mongodb");

/** Returns an entity on a route. Its transport calls the identifier `id`. */
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

const client = await new MongoClient(URI).connect();
const dataProvider = new MongoDataProvider(client.db(), client, { disableTransactions: true });
const writer = Fields.string({ valueConverter: { fieldTypeInDb: "dbid" } });
const paged = itemEntity(PAGED, RANKED, { rank: Fields.integer(), writer });
const entities = [...[...COLLECTIONS.keys()].map((name) => itemEntity(name)), paged];
const app = express();
app.use(remultApi({
  rootPath: "",
  admin: false,
  entities,
  dataProvider: () => Promise.resolve(dataProvider),
}));
listen(app);
