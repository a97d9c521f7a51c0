import type { ClientSession, mongo, Query } from "mongoose";

type Remove = (filter: object, options: object) => Promise<mongo.DeleteResult>;

/**
 * The types of Mongoose do not declare this member. The query sends its statement by a method of the collection, so
 * another object can change how it is sent.
 */
interface CollectionHolder {
  mongooseCollection: Readonly<Record<"deleteOne", Remove>>;
}

/** The server runs the statement for at most `mostMS`. */
export type Write<T = void> = (session?: ClientSession, mostMS?: number) => Promise<T>;

export interface Removal<W> {
  readonly statementOptions: (session?: ClientSession, mostMS?: number) => object;
  /** Runs the removal together with other writes. It calls `write` again if the transaction is repeated. */
  readonly together?: ((write: Write<W>) => Promise<void>) | undefined;
  /**
   * May read the documents before the removal, and returns the result of `write`. An error undoes the other writes of
   * the transaction as well.
   */
  readonly perform: (
    send: () => Promise<mongo.DeleteResult>,
    session?: ClientSession,
  ) => Promise<W>;
}

/** The middleware of the query runs once, even if a repeated transaction sends the statement several times. */
export async function sendWith<W>(
  query: Query<mongo.DeleteResult, unknown>,
  { statementOptions, together, perform }: Removal<W>,
): Promise<void> {
  const holder = query as unknown as CollectionHolder;
  const { mongooseCollection: collection } = holder;
  const value = async (filter: object, options: object) => {
    let result: mongo.DeleteResult | undefined;
    const write = async (session?: ClientSession, mostMS?: number) => {
      const statement = { ...options, ...statementOptions(session, mostMS) };
      const send = async () => result = await collection.deleteOne(filter, statement);
      return await perform(send, session);
    };
    await (together === undefined ? write() : together(write));
    return result;
  };
  holder.mongooseCollection = Object.create(collection, { deleteOne: { value } });
  await query.exec();
}
