/** The collections by the bare driver, in the version of Mongoose. @module */
import type { mongo } from "mongoose";
import { type ItemBody, RANKED, WRITERS } from "../data.ts";
import { databaseUri, importPeer, type Starred } from "./common.ts";
import type { Crud } from "./express.ts";

interface Stored extends Starred {
  readonly _id: mongo.ObjectId;
}

interface Ranked extends Stored {
  readonly writer: mongo.ObjectId;
}

/** Connects to the database. */
export async function openDriver(): Promise<{ db: mongo.Db; crud: Crud }> {
  const { MongoClient, ObjectId }: typeof mongo = await importPeer("mongodb");
  const db = (await new MongoClient(databaseUri()).connect()).db();
  const ranked = db.collection<Ranked>(RANKED);
  const crud: Crud = {
    list: (name) => db.collection<Stored>(name).find().toArray(),
    one: (name, id) => db.collection<Stored>(name).findOne({ _id: new ObjectId(id) }),
    async create(name, body) {
      const item = { ...stored(body), __v: 0 };
      const { insertedId } = await db.collection(name).insertOne(item);
      return { _id: insertedId, ...item };
    },
    update(name, id, body) {
      return db.collection<Stored>(name).findOneAndUpdate(
        { _id: new ObjectId(id) },
        { $set: stored(body), $inc: { __v: 1 } },
        { returnDocument: "after" },
      );
    },
    page: ({ limit, sort }) => ranked.find().sort(sort).limit(limit).toArray(),
    count: () => ranked.countDocuments(),
    async populated({ limit, sort }) {
      const items = await ranked.find().sort(sort).limit(limit).toArray();
      const ids = new Map(items.map(({ writer }) => [writer.toHexString(), writer]));
      const writers = await db.collection(WRITERS).find({ _id: { $in: [...ids.values()] } })
        .toArray();
      const byId = new Map(writers.map((writer) => [writer._id.toHexString(), writer]));
      return items.map((item) => ({
        ...item,
        writer: byId.get(item.writer.toHexString()) ?? null,
      }));
    },
  };
  return { db, crud };
}

/** Returns the body as the database stores it, with a date instead of its text. */
function stored(body: Partial<ItemBody>): object {
  return body.created === undefined ? body : { ...body, created: new Date(body.created) };
}
