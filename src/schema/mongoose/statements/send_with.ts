import type { ClientSession, mongo, Query } from "mongoose";

type Remove = (filter: object, options: object) => Promise<mongo.DeleteResult>;

/** A query reaches the database by a method of the collection that it holds, without declaring it. */
interface CollectionHolder {
  mongooseCollection: Readonly<Record<"deleteOne" | "deleteMany", Remove>>;
}

/** Sends a statement, in a transaction or by itself. The server gives it no more than `mostMS`. */
export type Write<T = void> = (session?: ClientSession, mostMS?: number) => Promise<T>;

export interface Removal {
  readonly name: "deleteOne" | "deleteMany";
  readonly statementOptions: (session?: ClientSession, mostMS?: number) => object;
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
  const holder = query as unknown as CollectionHolder;
  const { mongooseCollection: collection } = holder;
  const value = async (filter: object, options: object) => {
    let result: mongo.DeleteResult | undefined;
    await together(async (session, mostMS) => {
      const statement = { ...options, ...statementOptions(session, mostMS) };
      result = await collection[name](filter, statement);
      check?.(result);
    });
    return result;
  };
  holder.mongooseCollection = Object.create(collection, { [name]: { value } });
  await query.exec();
}
