import type { CallOptions } from "../sending/send_request.ts";
import type { Json } from "./json.ts";
import type { EntityOptions, MatchOptions, OneOptions } from "./options.ts";
import type { PageCallOptions, RemoveAllOptions, RemoveOptions } from "./options.ts";

/** @internal The server must declare `trash` for the class. */
export interface TrashOption {
  /**
   * With `"only"`, the operation reaches only entities in the trash, and `remove()` and `removeAll()` remove these for
   * good. The server answers 400 to callers who may not see the trash.
   */
  readonly trash?: "only" | undefined;
}

/** @internal */
export interface ItemOptions<M, S, P, R, A> extends OneOptions<M, S, P, R, A>, TrashOption {}

/** @internal */
export interface RemoveItemOptions<M> extends RemoveOptions<M>, TrashOption {}

/** @internal */
export interface RemoveItemsOptions<M> extends RemoveAllOptions<M>, TrashOption {}

/** @internal */
export interface HistoryPageOptions extends CallOptions, TrashOption, PageCallOptions<number> {
  /** Whether each record has `actorName`, if the server has the option `actorNames`. */
  readonly names?: boolean | undefined;
}

/**
 * A record of one write in the history of an entity.
 */
export interface HistoryRecord<M> {
  /** The `__v` of the entity after the write, to which `revert()` can set the entity back. */
  readonly version: number;
  /** The time of the write in ISO 8601. */
  readonly at: string;
  /**
   * The user who sent the write, by the option `actor` of the server. Absent if the server does not know or show it.
   */
  readonly actor?: string | number;
  /** The name of the user, with the option `names` and if the server knows it. */
  readonly actorName?: string;
  /** The name of the operation or of the action, such as `"update"`. */
  readonly operation: string;
  /**
   * The names of the changed fields that the caller may see. Empty for a creation. The server can add fields that the
   * class does not declare, such as `deletedAt`.
   */
  readonly changed: readonly string[];
  /** The values of the changed fields before the write. Fields without a value are missing. */
  readonly before: Partial<Json<M>>;
}

/** @internal */
export interface RestoreOptions<R> extends EntityOptions<R>, MatchOptions {}
