import type { CallOptions } from "../sending/send_request.ts";
import type { Json } from "./json.ts";
import type { EntityOptions, MatchOptions, OneOptions } from "./options.ts";
import type { RemoveAllOptions, RemoveOptions } from "./options.ts";

/** The option of operations that can reach the entities in the trash. The server must declare `trash` for the class. */
export interface TrashOption {
  /**
   * With `"only"`, the operation reaches the entities in the trash and no others. `remove()` and `removeAll()` then
   * remove entities for good. The server answers 400 to callers who may not see the trash.
   */
  readonly trash?: "only" | undefined;
}

/**
 * @internal Options of `one()` on an entity of a list, which may be in the trash.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 * @typeParam A The entity of the answer.
 */
export interface ItemOptions<M, S, P, R, A> extends OneOptions<M, S, P, R, A>, TrashOption {}

/**
 * @internal Options of `remove()` on an entity of a list, which may be in the trash.
 *
 * @typeParam M The model.
 */
export interface RemoveItemOptions<M> extends RemoveOptions<M>, TrashOption {}

/**
 * @internal Options of `removeAll()`, which may remove entities in the trash.
 *
 * @typeParam M The model.
 */
export interface RemoveItemsOptions<M> extends RemoveAllOptions<M>, TrashOption {}

/** Options of `history()`, which select a page of the records. */
export interface HistoryPageOptions extends CallOptions, TrashOption {
  /** The largest number of records, which is 20 without this option and at most 100. */
  readonly limit?: number | undefined;
  /** The `version` of the record after which the page begins, which is the last record of the page before. */
  readonly after?: number | undefined;
}

/**
 * A record of one write of an entity, which `history()` returns.
 *
 * @typeParam M The model.
 */
export interface HistoryRecord<M> {
  /** The version of the entity after the write. */
  readonly version: number;
  /** The time of the write, as text. */
  readonly at: string;
  /** The sender of the write, if the server knows it. */
  readonly actor?: string | number;
  /** The name of the operation or of the action, such as `"update"`. */
  readonly operation: string;
  /**
   * The names of the changed fields that the reader may see. Empty for the write that has created the entity. The
   * server may have added some of the fields, such as `deletedAt`, so the class need not declare each of the names.
   */
  readonly changed: readonly string[];
  /** The values of the changed fields before the write. A field that had no value is missing. */
  readonly before: Partial<Json<M>>;
}

/**
 * Options of `revert()` and `restore()`.
 *
 * @typeParam R The option `revive`.
 */
export interface RestoreOptions<R> extends EntityOptions<R>, MatchOptions {}
