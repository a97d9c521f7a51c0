/**
 * Follows the changes of a database. {@linkcode follow} calls a function for each committed change of a collection, at
 * least once and in order for each entity. Use it for webhooks, audit logs, caches and search indexes.
 */

export type { Change, StoredValues } from "./change.ts";
export { follow } from "./follow.ts";
export type { Follower, FollowOptions, LostChanges, RetryOptions } from "./follow.ts";
export type { DeadLetter } from "./_dead_letters.ts";
