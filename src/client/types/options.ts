import type { FieldError } from "../api_error.ts";
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
export interface ListOptions<M, S, P, R> extends SelectedOptions<M, S, P, R> {
  /** Asks for the total. */
  readonly count?: boolean | undefined;
  /** The `next` of an earlier page. It continues that list, so other parameters are not sent. */
  readonly next?: string | undefined;
}

/**
 * Options that select a list or a page of it, and its order.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface SelectedOptions<M, S, P, R> extends ReadOptions<M, S, P, R> {
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
}

/**
 * Options of `live()`. `signal` ends it without an error, and `timeoutMS` is how long a connection may take to open.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface LiveOptions<M, S, P, R> extends SelectedOptions<M, S, P, R> {
  /**
   * The time without a heartbeat of the server after which a connection counts as dead, in milliseconds.
   *
   * @default {45000}
   */
  readonly silenceMS?: number | undefined;
  /**
   * Is told why a connection was lost, or could not be opened again. The next list that comes is up to date.
   *
   * @param error The error: an `ApiError` if the server has answered one.
   */
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
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
 * Options of writes whose answer may be left out.
 *
 * @typeParam N The option `minimal`.
 */
export interface MinimalOptions<N> {
  /** Whether the answer is left out: the server then reads nothing only to send it. */
  readonly minimal?: N | undefined;
}

/**
 * The result of a write with `minimal: true`. `ifMatch` and `etagOf()` take it in the place of the entity.
 */
export interface Written {
  /** The header `Location`: the path of the entity, if the server tells. */
  readonly location: string | undefined;
}

/**
 * The result of a write: without the entity, if that was not asked for.
 *
 * @typeParam A The answer.
 * @typeParam N The option `minimal`.
 * @typeParam W The result without the answer.
 */
export type WriteResult<A, N, W = Written> = N extends true ? W : A;

/**
 * Options of `create()`.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface CreateOptions<R, N = boolean> extends EntityOptions<R>, MinimalOptions<N> {}

/**
 * Options of `createMany()`.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 * @typeParam T The option `atomic`.
 */
export interface CreateManyOptions<R, N = boolean, T = false> extends CreateOptions<R, N> {
  /** `false` if the route has `atomic: false`: each entity then has a fate of its own, which is the result. */
  readonly atomic?: T | undefined;
}

/** The fate of one entity of `createMany()` or `updateAll()`, on a route with `atomic: false`. */
export interface Fate {
  /** The status: 201 if it was created. */
  readonly status: number;
  /** Its identifier, if it has one. */
  readonly _id?: string;
  /** The code of its error. */
  readonly code?: string;
  /** The message of its error. */
  readonly message?: string;
  /** The problems by field. */
  readonly errors?: Readonly<Record<string, FieldError>>;
}

/**
 * Options of `replace()`.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface ReplaceOptions<R, N = boolean> extends CreateOptions<R, N>, MatchOptions {
  /** Whether an entity that is there is left as it is: the server answers 412 then. */
  readonly createOnly?: boolean | undefined;
}

/**
 * Options of `update()`.
 *
 * @typeParam M The model.
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface UpdateOptions<M, R, N = boolean>
  extends RemoveOptions<M>, EntityOptions<R>, MinimalOptions<N> {}

/**
 * Options of `removeAll()`.
 *
 * @typeParam M The model.
 */
export interface RemoveAllOptions<M> extends CallOptions {
  /** The filter, without which nothing is sent. `{}` selects everything that the server lets the client change. */
  readonly q: Query<M>;
  /** How many entities may be affected. If there are more, the server answers 409 and changes nothing. */
  readonly maxAffected?: number;
}

/**
 * Options of `updateAll()`.
 *
 * @typeParam M The model.
 */
export interface UpdateAllOptions<M> extends RemoveAllOptions<M> {}

/** The result of `updateAll()`. */
export interface Affected {
  /** How many entities the filter has selected. */
  readonly matched: number;
  /** How many of them were written. */
  readonly modified: number;
  /** Those that were not written, with their errors; only where the server says `atomic: false`. */
  readonly failed?: readonly Fate[];
}
