/** The collections by the bare driver, in the version of Mongoose. @module */
import type { mongo } from "mongoose";
import { type ItemBody, RANKED, WRITERS } from "../data.ts";
import { importPeer, type Starred, URI } from "./common.ts";
import type { Crud } from "./express.ts";

interface Stored extends Starred {
  readonly _id: mongo.ObjectId;
  readonly writer: mongo.ObjectId;
}

export async function openDriver(): Promise<{ db: mongo.Db; crud: Crud }> {
  const { MongoClient, ObjectId }: typeof mongo = await importPeer("mongodb");
  const db = (await new MongoClient(URI).connect()).db();
  const stored = (name: string) => db.collection<Stored>(name);
  const crud: Crud = {
    list: (name) => stored(name).find().toArray(),
    one: (name, id) => stored(name).findOne({ _id: new ObjectId(id) }),
    async create(name, body) {
      const item = { ...withDate(body), __v: 0 };
      const { insertedId } = await db.collection(name).insertOne(item);
      return { _id: insertedId, ...item };
    },
    update(name, id, body) {
      const change = { $set: withDate(body), $inc: { __v: 1 } };
      const options = { returnDocument: "after" } as const;
      return stored(name).findOneAndUpdate({ _id: new ObjectId(id) }, change, options);
    },
    async page({ limit, sort, isPopulated }) {
      const items = await stored(RANKED).find().sort(sort).limit(limit).toArray();
      if (!isPopulated) return items;
      const ids = new Map(items.map(({ writer }) => [writer.toHexString(), writer]));
      const _id = { $in: [...ids.values()] };
      const writers = await db.collection(WRITERS).find({ _id }).toArray();
      const byId = new Map(writers.map((writer) => [writer._id.toHexString(), writer]));
      return items.map((item) => ({
        ...item,
        writer: byId.get(item.writer.toHexString()) ?? null,
      }));
    },
    count: () => stored(RANKED).countDocuments(),
  };
  return { db, crud };
}

/** Returns the body as the database stores it, with a date instead of its text. */
function withDate(body: Partial<ItemBody>): object {
  return body.created === undefined ? body : { ...body, created: new Date(body.created) };
}
