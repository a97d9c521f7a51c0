// @ts-types="npm:@types/express@^5"
import type { Request } from "express";
import type { FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";

/** A filter, a projection or query options, as Mongoose takes them. */
export type QueryObject = Record<string, unknown>;

/** @internal A filter on entities of a model: fields and operators. Any name if the model is not known. */
export type FilterOf<M> = [keyof M] extends [keyof FrameworkModel | "~unnamed"] ? QueryObject
  : { [K in (keyof M & string) | `${keyof M & string}.${string}` | `$${string}`]?: unknown };

/** The state of a request, which hooks read and change as `req.framework`. Each level of a sub-route has its own. */
export interface FrameworkState<M extends FrameworkModel = FrameworkModel> {
  /**
   * The filter of the query. Initially it is the client's `q`, checked and cast, or `{}`. Hooks can add conditions or
   * replace it. Conditions of `q` use operators: `?q={"year":1979}` becomes `{ year: { $eq: 1979 } }`.
   */
  filter: FilterOf<M>;
  /** The options of the query, such as `skip`, `limit`, `sort` and `populate`. */
  options: QueryObject;
  /** The projection of the query. */
  projection: QueryObject;
  /** The name of the current operation, or of the current action. */
  readonly operation: string;
  /** Returns the Mongoose model on the connection of this request. */
  model<T extends FrameworkModel = M>(): Promise<ModelOf<ModelClass<T>>>;
  /** Counts what `filter` and the scope select, without `skip` and `limit`. Conditions added later are not in it. */
  count(): Promise<number>;
  /** On a sub-route, the parent after the `postFetch` hook of its `one()`, for all hooks but `preFetch`. */
  parent?: object;
  /** Never set. It lets TypeScript tell requests for different models apart. */
  readonly "~model"?: M;
}

/**
 * The request that hooks and routes of the application have in common: that of Express, without `framework`. A function
 * that takes it is a `preFetch` hook, a `scope` or a function in `hidden`, and a route of the application can call it.
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
 * `req.res` is the response. To add properties of your own, augment the `Request` type of Express.
 */
export interface FrameworkRequest<M extends FrameworkModel = FrameworkModel> extends Request {
  /** The state of the current request. */
  framework: FrameworkState<M>;
}
