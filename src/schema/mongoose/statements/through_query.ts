import type { mongo, Query } from "mongoose";

interface CollectionHolder {
  mongooseCollection: mongo.Collection;
}

function collectionOf(query: object): mongo.Collection {
  return (query as CollectionHolder).mongooseCollection;
}

/** Runs a query's middleware, but sends its statement by another function. */
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
