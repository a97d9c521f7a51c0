/**
 * {@linkcode follow} calls a function for each committed change of a collection, at least once and in order for each
 * entity, for webhooks, audit logs, caches and search indexes.
 *
 * @example Log every change of a collection
 * ```ts ignore
 * import mongoose from "mongoose";
 * import { follow } from "@mongrove/mongrove/changes";
 * import { Ticket } from "./ticket.ts";
 *
 * await mongoose.connect("mongodb://127.0.0.1:27017/desk?replicaSet=rs0");
 * const follower = follow(Ticket, {
 *   name: "log",
 *   handle: ({ kind, _id, paths }) => console.log(kind, _id, paths),
 * });
 * process.once("SIGTERM", () => follower.stop().then(() => mongoose.disconnect()));
 * ```
 *
 * @module
 */

export type { Change, StoredValues } from "./change.ts";
export { follow } from "./follow.ts";
export type { Follower, FollowOptions, LostChanges } from "./follow.ts";
export type { DeadLetter } from "./_dead_letters.ts";
