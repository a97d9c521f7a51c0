import type { KeepOption } from "../../declare/model/duration.ts";

/** @internal Options of the history of a class, by which clients can read and restore the versions of an entity. */
export interface HistoryOptions extends KeepOption {}
