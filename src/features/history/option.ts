import type { KeepOption } from "../../declare/model/duration.ts";

/** @internal Options of the history of a class, from which clients read and restore versions of an entity. */
export interface HistoryOptions extends KeepOption {}
