// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { ModelClass, ModelOf } from "../model/model_class.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { OperationName } from "../operations/operation.ts";

/** A filter, projection or options object of the database, as hooks read and write it. */
export type QueryObject = Record<string, unknown>;

/**
 * What the framework knows of the running request: `req.framework`.
 *
 * @typeParam M The model that the running level serves.
 */
export interface FrameworkState<M extends FrameworkModel = FrameworkModel> {
  /**
   * The database query: `q`, checked and cast, or `{}`. Hooks narrow or replace it. Every condition of `q` is in
   * operators: `?q={"year":1979}` is `{ year: { $eq: 1979 } }` here.
   */
  filter: QueryObject;
  /** The options of the query, such as `skip`, `limit`, `sort` and `populate`. */
  options: QueryObject;
  /** The projection of the query. */
  projection: QueryObject;
  /** The operation that runs. */
  readonly operation: OperationName;
  /** Mongoose's model on this request's connection. */
  model<T extends FrameworkModel = M>(): Promise<ModelOf<ModelClass<T>>>;
  /** Ties a request to its model in the eyes of the compiler; never set. */
  readonly "~model"?: M;
}

/**
 * Express's request with the `framework` property that hooks work on.
 *
 * The response is at hand as `req.res`. Fields of your own go on Express's `Request` by augmentation, as in any
 * Express application.
 *
 * @typeParam M The model that the operation serves.
 *
 * @example A hook that narrows what a user sees
 * ```ts
 * import type { FrameworkRequest } from "@mongrove/mongrove";
 *
 * export function ownOnly(req: FrameworkRequest): boolean {
 *   req.framework.filter.owner = req.headers["x-user"];
 *   return true;
 * }
 * ```
 */
export interface FrameworkRequest<M extends FrameworkModel = FrameworkModel> extends Request {
  /** The state of the running level. */
  framework: FrameworkState<M>;
}
