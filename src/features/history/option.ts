import type { Duration } from "../../declare/model/duration.ts";

/** @internal Options of the history of a class, by which clients can read and restore the versions of an entity. */
export interface HistoryOptions {
  /**
   * The time for which a record of the history is stored. After this time, clients cannot restore the version before
   * the write. Without this option, the history is stored for ever.
   */
  readonly keep?: Duration;
}
