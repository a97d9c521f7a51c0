import type { Duration } from "../../declare/model/duration.ts";

/** Options of the records of a class, from which clients read and restore the versions of an entity. */
export interface HistoryOptions {
  /** The time for which a record is stored, such as `"90d"`. Without this option, records are stored for ever. */
  readonly keep?: Duration;
}
