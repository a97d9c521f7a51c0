import type { CallOptions } from "../sending/send_request.ts";
import type { NoOthers } from "./populate.ts";
import type { Query } from "./query.ts";
import type { SortName } from "./select.ts";

/**
 * Options of what answers one entity.
 *
 * @typeParam R The option `revive`.
 */
export interface EntityOptions<R> extends CallOptions {
  /** The fields whose dates become a `Date`. In JSON they are strings. */
  readonly revive?: R | undefined;
}

/**
 * Options of reads. The server must have declared `select` and `populate`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface ReadOptions<M, S, P, R> extends EntityOptions<R> {
  /** The fields of the answer, besides `_id`. */
  readonly select?: S | undefined;
  /**
   * The references that are replaced by entities: `["director"]`. If the server shows only some fields of them, say which
   * ones: `{ director: ["name"] }`.
   */
  readonly populate?: (P & NoOthers<M, P>) | undefined;
  /** A filter. */
  readonly q?: Query<M> | undefined;
}

/**
 * Options of `one()`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 * @typeParam A The answer.
 */
export interface OneOptions<M, S, P, R, A> extends ReadOptions<M, S, P, R> {
  /** An earlier answer. If nothing has changed since, the server does not send it again, and it is the result. */
  readonly known?: A | undefined;
}

/**
 * Options of `all()` and `each()`. The server must have declared them, except `q`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface ListOptions<M, S, P, R> extends ReadOptions<M, S, P, R> {
  /** The order: names of fields; a `-` means descending. */
  readonly sort?: readonly SortName<M>[] | undefined;
  /** Words that occur in the entities. */
  readonly search?: string | undefined;
  /** How many entities a page has. */
  readonly limit?: number | undefined;
  /** How many entities are left out. */
  readonly skip?: number | undefined;
  /** The identifier of the entity behind which the page begins. */
  readonly after?: string | undefined;
  /** Asks for the total. */
  readonly count?: boolean | undefined;
  /** The `next` of an earlier page. It continues that list, so other parameters are not sent. */
  readonly next?: string | undefined;
}

/** The version of the entity that a write expects. */
export interface MatchOptions extends CallOptions {
  /**
   * The entity as the client has read it, its `ETag`, or `"*"`. If the entity has changed since, the server answers 412 and
   * writes nothing.
   */
  readonly ifMatch?: object | string | undefined;
}

/**
 * Options of `remove()`.
 *
 * @typeParam M The model.
 */
export interface RemoveOptions<M> extends MatchOptions {
  /** A filter that the entity must match. */
  readonly q?: Query<M> | undefined;
}

/**
 * Options of `update()`.
 *
 * @typeParam M The model.
 * @typeParam R The option `revive`.
 */
export interface UpdateOptions<M, R> extends RemoveOptions<M>, EntityOptions<R> {}

/**
 * Options of `removeAll()`.
 *
 * @typeParam M The model.
 */
export interface RemoveAllOptions<M> extends CallOptions {
  /** The filter, without which nothing is sent. `{}` removes everything that the server lets the client remove. */
  readonly q: Query<M>;
}
