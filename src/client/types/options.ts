import type { FieldError } from "../api_error.ts";
import type { CallOptions } from "../sending/send_request.ts";
import type { TrashOption } from "./history.ts";
import type { NoOthers } from "./populate.ts";
import type { Query } from "./query.ts";
import type { SortName } from "./select.ts";

/** @internal */
export interface EntityOptions<R> extends CallOptions {
  /** The date fields whose string the client replaces by a `Date`. */
  readonly revive?: R | undefined;
}

/** @internal */
export interface FilterCallOption<M> {
  /** The filter that an entity must match to be read, grouped or changed. */
  readonly q?: Query<M> | undefined;
}

/** @internal */
export interface SearchCallOption<M> extends FilterCallOption<M> {
  /** The words that the entities must match. */
  readonly search?: string | undefined;
}

/** @internal */
export interface PageCallOptions<A> {
  /** The largest number of entities, or of records of a history, in the answer. */
  readonly limit?: number | undefined;
  /** The identifier of the entity, or the `version` of the record, after which the answer begins. Not with `skip`. */
  readonly after?: A | undefined;
}

/** @internal The operation on the server must declare the options `select` and `populate`. */
export interface ReadCallOptions<M, S, P, R> extends EntityOptions<R>, FilterCallOption<M> {
  /** The fields of the answer besides `_id`. */
  readonly select?: S | undefined;
  /**
   * The references that the server replaces by entities, such as `["director"]`. If the server shows only some of their
   * fields, name these, as in `{ director: ["name"] }`, which changes only the type of the answer.
   */
  readonly populate?: (P & NoOthers<M, P>) | undefined;
}

/** @internal */
export interface OneOptions<M, S, P, R, A> extends ReadCallOptions<M, S, P, R> {
  /**
   * An earlier answer for the entity. If the entity has not changed since, the server sends no body, and `one()`
   * returns this answer.
   */
  readonly known?: A | undefined;
}

/** @internal Each option that becomes a parameter of the URL, except `q`, needs an option of `all()` on the server. */
export interface ListOptions<M, S, P, R> extends SelectedOptions<M, S, P, R>, TrashOption {
  /** Whether the page has a `total`, for which the server counts the entities of all pages. */
  readonly count?: boolean | undefined;
  /** The `next` of an earlier page, after which the list continues. It replaces options such as `q`. */
  readonly next?: string | undefined;
}

/** @internal */
export interface SelectedOptions<M, S, P, R>
  extends ReadCallOptions<M, S, P, R>, SearchCallOption<M>, PageCallOptions<string> {
  /** The order of the list, such as `["-year", "name"]`. A `-` before a field means descending. */
  readonly sort?: readonly SortName<M>[] | undefined;
  /** The number of entities before the page. Not with `after`. */
  readonly skip?: number | undefined;
}

/**
 * @internal When `signal` is aborted, the loop ends without an error. `timeoutMS` limits the time in which each
 * connection opens.
 */
export interface LiveCallOptions<M, S, P, R> extends SelectedOptions<M, S, P, R> {
  /**
   * Is called when, after the first list, a connection is lost with an error or cannot be opened again. The next list
   * has all missed changes.
   *
   * @param error The error, which is an `ApiError` if the server has answered with an error.
   */
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
}

/** @internal */
export interface MatchOptions extends CallOptions {
  /**
   * The entity as read, its `ETag`, or `"*"` for any version. If the entity has changed since, the server answers 412
   * and writes nothing.
   */
  readonly ifMatch?: object | string | undefined;
}

/** @internal */
export interface CreateOnlyOption {
  /** Whether the call only creates the entity or the file. If it exists, the server answers 412 and changes nothing. */
  readonly createOnly?: boolean | undefined;
}

/** @internal */
export interface RemoveOptions<M> extends MatchOptions, FilterCallOption<M> {}

/** @internal */
export interface MinimalOptions<N> {
  /**
   * Whether the answer has no body, and the server reads no entity for it. The result is then a {@linkcode Written}, or
   * `undefined` for `createMany()`.
   */
  readonly minimal?: N | undefined;
}

/** The result of a write with `minimal: true`. `ifMatch` and `etagOf()` accept it instead of the entity. */
export interface Written {
  /** The path of the entity, from the header `Location`. */
  readonly location: string | undefined;
}

/** @internal */
export type WriteResult<A, N, W = Written> = N extends true ? W : A;

/** @internal */
export interface CreateOptions<R, N = boolean> extends EntityOptions<R>, MinimalOptions<N> {}

/** @internal */
export interface CreateManyOptions<R, N = boolean, T = false> extends CreateOptions<R, N> {
  /**
   * `false` for a route with `atomic: false`, so that the result has an {@linkcode EntityResult} for each entity.
   * Without this option, a failed entity makes the call throw an `ApiError` with the status 207.
   */
  readonly atomic?: T | undefined;
}

/** The result for one entity on a route with `atomic: false`. */
export interface EntityResult {
  /** The HTTP status for the entity, such as 201 if it was created. */
  readonly status: number;
  /** The identifier of the entity. Absent if `createMany()` could not create it. */
  readonly _id?: string;
  /** The code of the error, such as `"BAD_DATA"`. Absent if the entity was written. */
  readonly code?: string;
  /** The text of the error for people. */
  readonly message?: string;
  /** The errors of refused values, by the path of the field. */
  readonly errors?: Readonly<Record<string, FieldError>>;
}

/** @internal */
export interface ReplaceOptions<R, N = boolean>
  extends CreateOptions<R, N>, MatchOptions, CreateOnlyOption {}

/** @internal */
export interface UpdateOptions<M, R, N = boolean>
  extends RemoveOptions<M>, EntityOptions<R>, MinimalOptions<N> {}

/** @internal */
export interface RemoveAllOptions<M> extends CallOptions {
  /** The filter. Without it, the client throws a `TypeError`. `{}` selects everything that the client may change. */
  readonly q: Query<M>;
  /**
   * The largest number of entities to change or remove. If `q` selects more, the server answers 409 and changes
   * nothing.
   */
  readonly maxAffected?: number;
}

/** @internal */
export interface UpdateAllOptions<M> extends RemoveAllOptions<M> {}

/** The result of `updateAll()`. */
export interface Affected {
  /** The number of selected entities, including those whose write has failed. */
  readonly matched: number;
  /** The number of written entities. */
  readonly modified: number;
  /** The failed entities, which only a route with `atomic: false` can have. */
  readonly failed?: readonly EntityResult[];
}
