import type { CallOptions } from "../sending/send_request.ts";
import type { Json } from "./json.ts";
import type { EntityOptions, MatchOptions, OneOptions } from "./options.ts";
import type { RemoveAllOptions, RemoveOptions } from "./options.ts";

/** @internal The server must declare `trash` for the class. */
export interface TrashOption {
  /**
   * With `"only"`, the operation reaches the entities in the trash and no others, and `remove()` and `removeAll()`
   * remove entities for good. The server answers 400 to callers who may not see the trash.
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
export interface HistoryPageOptions extends CallOptions, TrashOption {
  /** The largest number of writes in the answer, which is 20 without this option and at most 100. */
  readonly limit?: number | undefined;
  /**
   * The `version` of the last record of the previous page. Without this option, the page begins with the latest write.
   */
  readonly after?: number | undefined;
  /** Whether each record has `actorName`, if the server has the option `actorNames`. */
  readonly names?: boolean | undefined;
}

/**
 * A record of one write in the history of an entity.
 */
export interface HistoryRecord<M> {
  /** The `__v` of the entity after the write, to which `revert()` can set the entity back. */
  readonly version: number;
  /** The time of the write in ISO 8601, such as `"2026-01-31T12:00:00.000Z"`. */
  readonly at: string;
  /**
   * The user who has sent the write, by the option `actor` of the server. Absent if the server does not know the user,
   * or does not show it to the client.
   */
  readonly actor?: string | number;
  /** The name of the user, with the option `names`, if the server knows it. */
  readonly actorName?: string;
  /** The name of the operation or of the action, such as `"update"`. */
  readonly operation: string;
  /**
   * The names of the changed fields that the sender of the request may see. Empty for the write that has created the
   * entity. The class need not declare a field that the server has added, such as `deletedAt`.
   */
  readonly changed: readonly string[];
  /** The values of the changed fields before the write. A field that had no value is missing. */
  readonly before: Partial<Json<M>>;
}

/** @internal */
export interface RestoreOptions<R> extends EntityOptions<R>, MatchOptions {}
