import type { mongo } from "mongoose";
import type { ItemBody } from "../../plan/items.ts";
import { RANKED, WRITERS } from "../../plan/ranked.ts";
import type { Crud } from "./crud.ts";
import type { Starred } from "./hook.ts";
import { importPeer } from "./import_peer.ts";
import { databaseUri } from "./settings.ts";

/** What is used of the driver. */
type Driver = Pick<typeof mongo, "MongoClient" | "ObjectId">;

/** A document as the driver gives it. */
interface Stored extends Starred {
  readonly _id: mongo.ObjectId;
}

/** The same of an entity that refers to its writer. */
interface Ranked extends Stored {
  readonly writer: mongo.ObjectId;
}

/** Connects the bare driver: the version that Mongoose brings, without Mongoose. */
export async function openDriver(): Promise<Crud> {
  const { MongoClient, ObjectId } = await importPeer<Driver>("mongodb");
  const client = await new MongoClient(databaseUri()).connect();
  const db = client.db();
  const ranked = db.collection<Ranked>(RANKED);
  return {
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
    first: ({ limit, sort }) => ranked.find().sort(sort).limit(limit).toArray(),
    async page({ limit, sort }) {
      const [items, total] = await Promise.all([
        ranked.find().sort(sort).limit(limit).toArray(),
        ranked.countDocuments(),
      ]);
      return { items, total };
    },
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
}

/** Gives the body as it is to be stored: the date as a date. */
function stored(body: Partial<ItemBody>): object {
  return body.created === undefined ? body : { ...body, created: new Date(body.created) };
}
