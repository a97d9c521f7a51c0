import type { ClientSession, mongo, Query } from "mongoose";

type Remove = (filter: object, options: object) => Promise<mongo.DeleteResult>;

/**
 * The member of a Mongoose query that holds its collection, which the types of Mongoose do not declare. The query sends
 * its statement by a method of this collection, so that another collection object can change how the statement is sent.
 */
interface CollectionHolder {
  mongooseCollection: Readonly<Record<"deleteOne", Remove>>;
}

/**
 * Sends a statement, in the transaction of `session` if a session is given. The server runs the statement for at most
 * `mostMS`.
 */
export type Write<T = void> = (session?: ClientSession, mostMS?: number) => Promise<T>;

export interface Removal<W> {
  readonly statementOptions: (session?: ClientSession, mostMS?: number) => object;
  /**
   * Runs the removal together with other writes of the request, such as an entry of the history, for example in a
   * transaction. The function sends the removal by its argument `write`, and again if the transaction is repeated.
   */
  readonly together?: ((write: Write<W>) => Promise<void>) | undefined;
  /**
   * Sends the removal by `send`. The function may read the documents before the removal, and returns them as the result
   * of `write`. If this function throws, the transaction undoes the other writes as well.
   */
  readonly perform: (
    send: () => Promise<mongo.DeleteResult>,
    session?: ClientSession,
  ) => Promise<W>;
}

/**
 * Runs a query that removes a document. The middleware of the query runs once, even if a repeated transaction sends the
 * statement several times.
 */
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
