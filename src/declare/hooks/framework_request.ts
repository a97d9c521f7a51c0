// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { Types } from "mongoose";
import type { FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";

/** The identifier of the user or program that sends a request. */
export type Actor = string | number | Types.ObjectId;

/** A filter, a projection or query options of Mongoose. Any key is allowed, such as `$or`. */
export type QueryObject = Record<string, unknown>;

/**
 * @internal A filter on entities of the model `M`, so that TypeScript finds misspelled names. If the model is not
 * known, every key is accepted.
 */
export type FilterOf<M> = [keyof M] extends [keyof FrameworkModel | "~unnamed"] ? QueryObject
  // deno-lint-ignore no-explicit-any -- a query of Mongoose does not take values of the type `unknown`
  : { [K in (keyof M & string) | `${keyof M & string}.${string}` | `$${string}`]?: any };

/**
 * The state of a request, which hooks read and change as `req.framework`. Each level of a sub-route has its own state
 * and query.
 */
export interface FrameworkState<M extends FrameworkModel = FrameworkModel> {
  /**
   * The filter of the query, which hooks can extend or replace. At first, it is the client's `q` or `{}`, checked and
   * cast, with an operator for each condition: `?q={"year":1979}` becomes `{ year: { $eq: 1979 } }`. After the
   * `preFetch` hooks, a condition on `director.name` becomes a condition on identifiers: `{ director: { $in: […] } }`.
   */
  filter: FilterOf<M>;
  /** The options of the Mongoose query, such as `sort`, which a `preFetch` hook can set. */
  options: QueryObject;
  /**
   * The projection of the query, which a `preFetch` hook can set. With `{ name: 1 }`, answers have only `name` and
   * `_id`.
   */
  projection: QueryObject;
  /** The name of the operation or action for which the hook runs, such as `update`. */
  readonly operation: string;
  /**
   * The number that a rate limit in a guard adds for this request, usually 1. For a batch, it is the number of its
   * requests, and 0 for each of them. It is also 0 for the description of a route, and if the guard runs again, such as
   * for a live list.
   */
  readonly weight: number;
  /** Returns the Mongoose model on the connection of this request. */
  model<T extends FrameworkModel = M>(): Promise<ModelOf<ModelClass<T>>>;
  /**
   * Returns the number of entities that `filter` and the scope select, without `skip` and `limit`. Conditions that a
   * hook adds after this call are not counted.
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
 * The request of Express without `framework`, for functions that hooks and routes of the application share.
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
