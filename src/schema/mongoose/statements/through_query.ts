import type { mongo, Query } from "mongoose";

/**
 * The types of Mongoose do not declare this member. The query sends its statement by a method of the collection, so
 * another object can change how it is sent.
 */
interface CollectionHolder {
  mongooseCollection: mongo.Collection;
}

function collectionOf(query: object): mongo.Collection {
  return (query as CollectionHolder).mongooseCollection;
}

/** Runs a query with its middleware, and sends its statement by another function. */
export async function throughQuery<A extends readonly unknown[], R>(
  query: Query<R, unknown>,
  { method, send }: {
    readonly method: "deleteOne" | "updateOne";
    readonly send: (...args: A) => Promise<R>;
  },
): Promise<void> {
  const collection = Object.create(collectionOf(query), { [method]: { value: send } });
  (query as unknown as CollectionHolder).mongooseCollection = collection;
  await query.exec();
}
