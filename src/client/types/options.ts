import type { FieldError } from "../api_error.ts";
import type { CallOptions } from "../sending/send_request.ts";
import type { TrashOption } from "./history.ts";
import type { NoOthers } from "./populate.ts";
import type { Query } from "./query.ts";
import type { SortName } from "./select.ts";

/**
 * @internal Options of the operations that return entities, whose dates the client can convert from text to `Date`.
 *
 * @typeParam R The option `revive`.
 */
export interface EntityOptions<R> extends CallOptions {
  /** The date fields whose text the client replaces by a `Date`. Without this option, dates are strings, as in JSON. */
  readonly revive?: R | undefined;
}

/**
 * @internal Options of reads, which choose the entities, fields and references of the answer. The operation on the
 * server must declare the options `select` and `populate`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface ReadCallOptions<M, S, P, R> extends EntityOptions<R> {
  /** The fields of the answer. `_id` is always included. */
  readonly select?: S | undefined;
  /**
   * The references that the server replaces by entities, such as `["director"]`. If the server shows only some fields
   * of the entities, write their names, as in `{ director: ["name"] }`. The names change only the type of the answer,
   * because the client cannot see the option `select` of the server.
   */
  readonly populate?: (P & NoOthers<M, P>) | undefined;
  /** The filter that the entities must match. Entities that do not match are not in the answer. */
  readonly q?: Query<M> | undefined;
}

/**
 * @internal Options of `one()`, which choose the fields and the references in the answer, and can prevent that the
 * server sends an unchanged entity again.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 * @typeParam A The answer.
 */
export interface OneOptions<M, S, P, R, A> extends ReadCallOptions<M, S, P, R> {
  /**
   * An earlier answer for the same entity. If the entity has not changed since, the server sends no body, and `one()`
   * returns the earlier answer.
   */
  readonly known?: A | undefined;
}

/**
 * @internal Options of `all()` and `each()`. Each option that becomes a parameter of the URL, except `q`, needs an
 * option of `all()` on the server, such as `sort` or `page`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface ListOptions<M, S, P, R> extends SelectedOptions<M, S, P, R>, TrashOption {
  /** Whether the server counts the entities of all pages, so that the page has a `total`. */
  readonly count?: boolean | undefined;
  /**
   * The `next` of an earlier page, after which the list continues. `next` contains the parameters of that list, so the
   * client does not send options such as `q` and `sort`.
   */
  readonly next?: string | undefined;
}

/**
 * @internal Options that select the entities, the order and the page of a list, for `all()`, `each()` and `live()`.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface SelectedOptions<M, S, P, R> extends ReadCallOptions<M, S, P, R> {
  /**
   * The fields by which the server sorts the list, such as `["-year", "name"]`. A `-` before a field means descending.
   */
  readonly sort?: readonly SortName<M>[] | undefined;
  /** The words for which the server searches. Only entities that match are in the list. */
  readonly search?: string | undefined;
  /** The largest number of entities in a page. */
  readonly limit?: number | undefined;
  /** The number of entities of the list that come before the page. `skip` and `after` exclude each other. */
  readonly skip?: number | undefined;
  /** The identifier of the entity after which the page begins. `after` and `skip` exclude each other. */
  readonly after?: string | undefined;
}

/**
 * @internal Options of `live()`. When `signal` is aborted, the loop ends without an error. `timeoutMS` limits the time
 * in which each connection opens.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export interface LiveCallOptions<M, S, P, R> extends SelectedOptions<M, S, P, R> {
  /**
   * The time in milliseconds after which the client closes a connection on which no bytes arrive, and connects again.
   * The server sends a heartbeat every 15 seconds by default, so a shorter time would close connections that work.
   *
   * @default {45000}
   */
  readonly silenceMS?: number | undefined;
  /**
   * A function that the client calls when a connection is lost with an error or cannot be opened again. The client does
   * not call the function before the first list. The next list has all changes that the client has missed.
   *
   * @param error The error, which is an `ApiError` if the server has answered with an error.
   */
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
}

/** @internal Options of writes that must not overwrite the change of another client. */
export interface MatchOptions extends CallOptions {
  /**
   * The entity as the client has read it, its `ETag`, or `"*"` for any version. If the entity has changed since, the
   * server answers 412 and writes nothing.
   */
  readonly ifMatch?: object | string | undefined;
}

/**
 * @internal Options of `remove()`, which can bind the write to the version that the client has read and to a filter.
 *
 * @typeParam M The model.
 */
export interface RemoveOptions<M> extends MatchOptions {
  /** The filter that the entity must match. The server does not change an entity that does not match. */
  readonly q?: Query<M> | undefined;
}

/**
 * @internal Options of writes for which a client can ask for an answer without a body, so that the server does not read
 * the entity for the answer.
 *
 * @typeParam N The option `minimal`.
 */
export interface MinimalOptions<N> {
  /**
   * Whether the answer has no body, so that the server does not read the entity only for the answer. With `true`, the
   * result of the write is a {@linkcode Written}, or `undefined` for `createMany()`.
   */
  readonly minimal?: N | undefined;
}

/**
 * The result of a write with `minimal: true`. `ifMatch` and `etagOf()` accept this result instead of the entity,
 * so that a later write can name the version.
 */
export interface Written {
  /** The path of the entity from the header `Location`, or `undefined` if the answer has no such header. */
  readonly location: string | undefined;
}

/**
 * @internal The result of a write. With `minimal: true`, the answer has no body, and the result is `W`. Otherwise, the
 * result is the answer `A`.
 *
 * @typeParam A The answer.
 * @typeParam N The option `minimal`.
 * @typeParam W The result of a write whose answer has no body.
 */
export type WriteResult<A, N, W = Written> = N extends true ? W : A;

/**
 * @internal Options of `create()`, which decide whether the answer has the new entity, and whether its dates are texts.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface CreateOptions<R, N = boolean> extends EntityOptions<R>, MinimalOptions<N> {}

/**
 * @internal Options of `createMany()`, which are the options of `create()` and the choice between one result for all
 * entities and a result for each.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 * @typeParam T The option `atomic`.
 */
export interface CreateManyOptions<R, N = boolean, T = false> extends CreateOptions<R, N> {
  /**
   * `false` for a route with `atomic: false`. With `false`, the result has an {@linkcode EntityResult} for each entity.
   * Without this option, an answer that reports failed entities throws an `ApiError` with the status 207.
   */
  readonly atomic?: T | undefined;
}

/**
 * The success or failure of one entity of `createMany()` or `updateAll()` on a route with `atomic: false`, where some
 * entities can be written although others fail.
 */
export interface EntityResult {
  /** The HTTP status for the entity, such as 201 if it was created. */
  readonly status: number;
  /**
   * The identifier of the created entity, or of the entity that `updateAll()` could not write. Absent if `createMany()`
   * could not create the entity.
   */
  readonly _id?: string;
  /** The code of the error for programs, such as `"BAD_DATA"`. Absent if the entity was written. */
  readonly code?: string;
  /** The text of the error for people. Absent if the entity was written. */
  readonly message?: string;
  /** The errors of fields whose values the server has refused, by the path of the field. */
  readonly errors?: Readonly<Record<string, FieldError>>;
}

/**
 * @internal Options of `replace()`, which can bind the write to the version that the client has read, or to the absence
 * of the entity.
 *
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface ReplaceOptions<R, N = boolean> extends CreateOptions<R, N>, MatchOptions {
  /** Whether the write only creates an entity. If the entity exists, the server answers 412 and changes nothing. */
  readonly createOnly?: boolean | undefined;
}

/**
 * @internal Options of `update()`, which can bind the write to the version that the client has read and to a filter.
 *
 * @typeParam M The model.
 * @typeParam R The option `revive`.
 * @typeParam N The option `minimal`.
 */
export interface UpdateOptions<M, R, N = boolean>
  extends RemoveOptions<M>, EntityOptions<R>, MinimalOptions<N> {}

/**
 * @internal Options of `removeAll()`, which select the entities and limit their number.
 *
 * @typeParam M The model.
 */
export interface RemoveAllOptions<M> extends CallOptions {
  /**
   * The filter. Without `q`, the client throws a `TypeError`, because the request would select all entities. `{}`
   * selects everything that the client may change.
   */
  readonly q: Query<M>;
  /**
   * The largest number of entities that the write may change or remove. If `q` selects more, the server answers 409 and
   * changes nothing.
   */
  readonly maxAffected?: number;
}

/**
 * @internal Options of `updateAll()`, which select the entities and limit their number.
 *
 * @typeParam M The model.
 */
export interface UpdateAllOptions<M> extends RemoveAllOptions<M> {}

/** The result of `updateAll()`, which counts the entities instead of returning them. */
export interface Affected {
  /** The number of entities that the filter has selected, including entities whose write has failed. */
  readonly matched: number;
  /** The number of entities that were written, which is `matched` without the failed entities. */
  readonly modified: number;
  /**
   * The failed entities with their errors. Only a route with `atomic: false` can have failed entities, because other
   * routes write all entities or none.
   */
  readonly failed?: readonly EntityResult[];
}
