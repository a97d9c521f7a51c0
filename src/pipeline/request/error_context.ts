import type { OperationName } from "../../declare/operations/operation.ts";

/** Where an error happened: what `onError` gets as its third argument, and what the log says beside the error. */
export interface ErrorContext {
  /** The HTTP method of the request. */
  readonly method: string;
  /** The path of the route below the mount, in Express's form. */
  readonly route: string;
  /** The name of the model class that the route serves. */
  readonly class: string;
  /** The operation. */
  readonly operation: OperationName;
  /**
   * How many more requests of the last minute failed for the same cause. There only where the database was away and
   * `onError` has been told of the first one.
   */
  readonly count?: number;
}
