import mongoose, { type Connection } from "mongoose";
import { itemId } from "../plan/items.ts";
import {
  RANKED,
  RANKED_COUNT,
  RANKED_INDEX,
  rankedBody,
  WRITER_COUNT,
  writerBody,
  writerOf,
  WRITERS,
} from "../plan/ranked.ts";

const { ObjectId } = mongoose.Types;

/** Fills the collection that pages are read from, and the one that its entities refer to. */
export async function seedRanked(connection: Connection): Promise<void> {
  const ranked = connection.collection(RANKED);
  await ranked.insertMany(Array.from({ length: RANKED_COUNT }, (_, index) => {
    const body = rankedBody(index);
    const writer = new ObjectId(itemId(writerOf(index)));
    const _id = new ObjectId(itemId(index));
    return { _id, ...body, created: new Date(body.created), writer, __v: 0 };
  }));
  await ranked.createIndex(RANKED_INDEX);
  await connection.collection(WRITERS).insertMany(
    Array.from({ length: WRITER_COUNT }, (_, index) => {
      const body = writerBody(index);
      return {
        _id: new ObjectId(itemId(index)),
        ...body,
        joined: new Date(body.joined),
        __v: 0,
      };
    }),
  );
}
