// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { Types } from "mongoose";
import type { FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";

/** The user or program that sends a request, by its identifier. */
export type Actor = string | number | Types.ObjectId;

/**
 * An object that Mongoose takes as a filter, a projection or query options. Any key is allowed, such as `$or`, the name
 * of a field, or `limit`.
 */
export type QueryObject = Record<string, unknown>;

/**
 * @internal A filter on entities of the model `M`, whose keys are fields, paths and operators, so that TypeScript finds
 * misspelled names. If the model is not known, every key is accepted.
 */
export type FilterOf<M> = [keyof M] extends [keyof FrameworkModel | "~unnamed"] ? QueryObject
  : { [K in (keyof M & string) | `${keyof M & string}.${string}` | `$${string}`]?: unknown };

/**
 * The state of a request, which hooks read and change as `req.framework`. Each level of a sub-route has a separate
 * state, so that a hook changes only the query of its level.
 */
export interface FrameworkState<M extends FrameworkModel = FrameworkModel> {
  /**
   * The filter of the query. The initial value is the client's `q`, checked and cast, or `{}`. Hooks can add conditions
   * to the filter or replace it. The initial value has an operator for each condition, so `?q={"year":1979}` becomes
   * `{ year: { $eq: 1979 } }`. After the `preFetch` hooks, a condition through a reference becomes a condition on the
   * identifiers of the reference, such as `{ director: { $in: […] } }`.
   */
  filter: FilterOf<M>;
  /**
   * The options with which Mongoose runs the query, such as `sort`, `limit` and `populate`. A `preFetch` hook can set
   * them.
   */
  options: QueryObject;
  /**
   * The projection of the query. A `preFetch` hook can set it, such as to `{ name: 1 }`, so that answers have only the
   * named fields and `_id`.
   */
  projection: QueryObject;
  /**
   * The name of the operation or action for which the hook runs, such as `update`, so that one hook can serve several
   * operations.
   */
  readonly operation: string;
  /**
   * The number of requests as which this request counts, so that a guard can limit requests. A batch counts as the
   * number of its requests. Each request in it counts as 0, and so does a guard that runs again, such as for a live
   * list or an upload. Any other request counts as 1.
   */
  readonly weight: number;
  /** Returns the Mongoose model on the connection of this request, so that hooks use the database of the request. */
  model<T extends FrameworkModel = M>(): Promise<ModelOf<ModelClass<T>>>;
  /**
   * Returns the number of entities that `filter` and the scope select, without `skip` and `limit`. Conditions that a
   * hook adds after the call are not counted.
   */
  count(): Promise<number>;
  /**
   * The parent entity of a sub-route, after the `postFetch` hook of its `one()`. `preFetch` hooks run before the parent
   * is read, and do not have this property.
   */
  parent?: object;
  /**
   * The sender of the request, as the option `actor` of `Framework.initialize()` returns it after the `preFetch` hooks.
   * Missing without the option, before these hooks have passed, and if the option returns `undefined`.
   */
  readonly actor?: Actor;
  /** A property that only exists in types, so that TypeScript distinguishes requests for different models. */
  readonly "~model"?: M;
}

/**
 * The request of Express without `framework`, for functions that hooks and routes of the application share. A function
 * with this parameter can be a `preFetch` hook, a `scope` or a function in `hidden`, and a route of the application can
 * call the function.
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
  /** The filter, the projection and other state of the request, with which hooks change the framework's query. */
  framework: FrameworkState<M>;
}
