// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { Types } from "mongoose";
import type { FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";

/** The identifier of the user or program that sends a request. */
export type Actor = string | number | Types.ObjectId;

/**
 * A filter, a projection or query options of Mongoose. Any key is allowed, such as `$or`, the name of a field, or
 * `limit`.
 */
export type QueryObject = Record<string, unknown>;

/**
 * @internal A filter on entities of the model `M`, so that TypeScript finds misspelled names. If the model is not
 * known, every key is accepted.
 */
export type FilterOf<M> = [keyof M] extends [keyof FrameworkModel | "~unnamed"] ? QueryObject
  : { [K in (keyof M & string) | `${keyof M & string}.${string}` | `$${string}`]?: unknown };

/**
 * The state of a request, which hooks read and change as `req.framework`. Each level of a sub-route has a separate
 * state, so that a hook changes only the query of its level.
 */
export interface FrameworkState<M extends FrameworkModel = FrameworkModel> {
  /**
   * The filter of the query, which hooks can extend or replace. The initial value is the client's `q`, checked and
   * cast, or `{}`. It has an operator for each condition, so `?q={"year":1979}` becomes `{ year: { $eq: 1979 } }`.
   * After the `preFetch` hooks, a condition through a reference becomes a condition on the identifiers of the
   * reference, such as `{ director: { $in: […] } }`.
   */
  filter: FilterOf<M>;
  /** The options of the Mongoose query, such as `sort`, `limit` and `populate`, which a `preFetch` hook can set. */
  options: QueryObject;
  /**
   * The projection of the query. A `preFetch` hook can set it, such as to `{ name: 1 }`, so that answers have only the
   * named fields and `_id`.
   */
  projection: QueryObject;
  /** The name of the operation or action for which the hook runs, such as `update`. */
  readonly operation: string;
  /**
   * The number of requests as which this request counts, so that a guard can limit requests. A batch counts as the
   * number of its requests, and each request in it as 0. A guard that runs again, such as for a live list or an upload,
   * counts 0. Any other request counts as 1.
   */
  readonly weight: number;
  /** Returns the Mongoose model on the connection of this request. */
  model<T extends FrameworkModel = M>(): Promise<ModelOf<ModelClass<T>>>;
  /**
   * Returns the number of entities that `filter` and the scope select, without `skip` and `limit`. Later conditions of
   * hooks are not counted.
   */
  count(): Promise<number>;
  /**
   * The parent entity of a sub-route, after the `postFetch` hook of its `one()`. Missing in `preFetch` hooks, which run
   * before the parent is read.
   */
  parent?: object;
  /**
   * The sender of the request, as the option `actor` of `Framework.initialize()` returns it after the `preFetch` hooks.
   */
  readonly actor?: Actor;
  /** Exists in types only, so that TypeScript distinguishes requests for different models. */
  readonly "~model"?: M;
}

/**
 * The request of Express without `framework`, for functions that hooks and routes of the application share. A function
 * with this parameter can be a `preFetch` hook, a `scope` or a function in `hidden`.
 *
 * @example A guard of a list and of a route of the application
 * ```ts
 * import { type GuardRequest, RestError } from "@mongrove/mongrove";
 *
 * export function isSignedIn(req: GuardRequest): boolean {
 *   if (req.headers.authorization === undefined) throw new RestError(401, "Sign in first");
 *   return true;
 * }
 * ```
 */
export type GuardRequest = Request;

/**
 * The Express request that hooks get, with the additional property `framework`.
 *
 * `req.res` is the response. To add properties, augment the `Request` type of Express.
 */
export interface FrameworkRequest<M extends FrameworkModel = FrameworkModel> extends Request {
  /** The state with which hooks change the framework's query. */
  framework: FrameworkState<M>;
}
