// How a query of Mongoose reaches the database: by a method of the collection that it holds.
import type { ClientSession, mongo, Query } from "mongoose";

/** Queries hold the driver's collection, without declaring it. */
interface Inside {
  mongooseCollection?: Record<string, unknown>;
}

type Method = (filter: object, options: object) => Promise<mongo.DeleteResult>;

/** A write, in a session if it is part of a transaction. */
export type Write = (session?: ClientSession) => Promise<void>;

export interface Removal {
  /** The method of the driver that it ends in. */
  readonly name: "deleteOne" | "deleteMany";
  /** Gives the options of a statement, right before it is sent. */
  readonly statementOptions: (session?: ClientSession) => object;
  /** Runs it together with other writes; it may be called more than once. */
  readonly together?: ((write: Write) => Promise<void>) | undefined;
  /** Looks at what the statement has removed; an error undoes the other writes. */
  readonly check?: (result: mongo.DeleteResult) => void;
}

/** Runs a query that removes: its middleware once, however often its statement is sent. */
export async function sendWith(
  query: Query<mongo.DeleteResult, unknown>,
  { name, statementOptions, together = (write) => write(), check }: Removal,
): Promise<void> {
  const inside = query as unknown as Inside;
  const { mongooseCollection: collection } = inside;
  const send = async (statement: (options: object) => Promise<mongo.DeleteResult>) => {
    let result: mongo.DeleteResult | undefined;
    await together(async (session) => {
      result = await statement(statementOptions(session));
      check?.(result);
    });
    return result as mongo.DeleteResult;
  };
  const method = collection?.[name] as Method | undefined;
  if (collection === undefined || typeof method !== "function") {
    await send((options) => query.setOptions(options as never).exec());
    return;
  }
  const value = (filter: object, given: object) =>
    send((options) => method.call(collection, filter, { ...given, ...options }));
  inside.mongooseCollection = Object.create(collection, { [name]: { value } });
  await query.exec();
}
