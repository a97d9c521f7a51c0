/** A MongoDB that `startMongo()` has started for a test. */
export interface TestMongo {
  /** The connection string for `mongoose.connect()`, with the database `test`. Pass `dbName` to name another. */
  readonly uri: string;
  /** Stops the server and deletes its data. Further calls do nothing. */
  readonly stop: () => Promise<void>;
  /** Calls `stop()` at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}
