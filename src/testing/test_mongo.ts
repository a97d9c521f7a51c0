/** A MongoDB that runs for a test. */
export interface TestMongo {
  /** Its connection string, database included. */
  readonly uri: string;
  /** Ends it, and removes its data. Calling it again does nothing. */
  readonly stop: () => Promise<void>;
  /** Does the same at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}
