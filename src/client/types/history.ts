import type { CallOptions } from "../sending/send_request.ts";
import type { Json } from "./json.ts";
import type { EntityOptions, MatchOptions, OneOptions } from "./options.ts";
import type { RemoveAllOptions, RemoveOptions } from "./options.ts";

/**
 * @internal The option of operations that can reach the entities in the trash. The server must declare `trash` for the
 * class.
 */
export interface TrashOption {
  /**
   * With `"only"`, the operation reaches the entities in the trash and no others, and `remove()` and `removeAll()`
   * remove entities for good. The server answers 400 to callers who may not see the trash.
   */
  readonly trash?: "only" | undefined;
}

/**
 * @internal Options of `one()` of a `Resource`, which can read an entity in the trash with the option `trash`. `one()`
 * of a `Single` does not have this option.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 * @typeParam A The entity of the answer.
 */
export interface ItemOptions<M, S, P, R, A> extends OneOptions<M, S, P, R, A>, TrashOption {}

/**
 * @internal Options of `remove()` on an entity of a list. With the option `trash`, the call removes an entity in the
 * trash for good.
 *
 * @typeParam M The model.
 */
export interface RemoveItemOptions<M> extends RemoveOptions<M>, TrashOption {}

/**
 * @internal Options of `removeAll()`. With the option `trash`, the call removes entities in the trash for good.
 *
 * @typeParam M The model.
 */
export interface RemoveItemsOptions<M> extends RemoveAllOptions<M>, TrashOption {}

/** @internal Options of `history()`, which select a page of the writes of an entity. */
export interface HistoryPageOptions extends CallOptions, TrashOption {
  /** The largest number of writes in the answer of `history()`, which is 20 without this option and at most 100. */
  readonly limit?: number | undefined;
  /**
   * The `version` of the record after which the page begins, which is the last record of the previous page. Without
   * this option, the page begins with the latest write.
   */
  readonly after?: number | undefined;
  /** Whether each record has `actorName`, if the server knows the name of its user by its option `actorNames`. */
  readonly names?: boolean | undefined;
}

/**
 * A record of one write in the history of an entity, which `history()` returns.
 *
 * @typeParam M The model.
 */
export interface HistoryRecord<M> {
  /**
   * The `__v` of the entity after the write. `revert()` accepts this number and sets the entity back to this version.
   */
  readonly version: number;
  /** The time of the write in ISO 8601, such as `"2026-01-31T12:00:00.000Z"`. */
  readonly at: string;
  /**
   * The user who has sent the write, as the option `actor` of the server names users. Absent if the server does not
   * know the user, or does not show it to the client.
   */
  readonly actor?: string | number;
  /** The name of the user, with the option `names`. Absent if the server knows no name. */
  readonly actorName?: string;
  /** The name of the operation or of the action, such as `"update"`. */
  readonly operation: string;
  /**
   * The names of the changed fields that the sender of the request may see. Empty for the write that has created the
   * entity. The server may have added some of the fields, such as `deletedAt`, so the class need not declare each of
   * the names.
   */
  readonly changed: readonly string[];
  /** The values of the changed fields before the write. A field that had no value is missing. */
  readonly before: Partial<Json<M>>;
}

/**
 * @internal Options of `revert()` and `restore()`. With `ifMatch`, the server refuses the write if the entity has
 * changed since the client has read it.
 *
 * @typeParam R The option `revive`.
 */
export interface RestoreOptions<R> extends EntityOptions<R>, MatchOptions {}
