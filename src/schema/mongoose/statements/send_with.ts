// How a query of Mongoose reaches the database: by a method of the collection that it holds.
import type { mongo, Query } from "mongoose";

/** Sends a statement, as often as it is called, with further options. */
export type Statement = (options: object) => Promise<mongo.DeleteResult>;

/** Queries hold the driver's collection, without declaring it. */
interface Inside {
  mongooseCollection?: Record<string, unknown>;
}

type Method = (filter: object, options: object) => Promise<mongo.DeleteResult>;

export interface Removal {
  /** The method of the driver that it ends in. */
  readonly name: "deleteOne" | "deleteMany";
  /** Gets the statement, and may send it more than once. */
  readonly send: (statement: Statement) => Promise<mongo.DeleteResult>;
}

/** Runs a query that removes, and its middleware once. */
export async function sendWith(
  query: Query<mongo.DeleteResult, unknown>,
  { name, send }: Removal,
): Promise<mongo.DeleteResult> {
  const inside = query as unknown as Inside;
  const { mongooseCollection: collection } = inside;
  const method = collection?.[name] as Method | undefined;
  if (collection === undefined || typeof method !== "function") {
    return await send((options) => query.setOptions(options as never).exec());
  }
  const value = (filter: object, given: object) =>
    send((options) => method.call(collection, filter, { ...given, ...options }));
  inside.mongooseCollection = Object.create(collection, { [name]: { value } });
  return await query.exec();
}
