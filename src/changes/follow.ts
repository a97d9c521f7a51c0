import mongoose from "mongoose";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import { wrongOption } from "../errors/option_kinds.ts";
import { completeLimits, MAX_TIMER_MS } from "../errors/complete_limits.ts";
import { logError } from "../errors/log.ts";
import { untypedModel } from "../schema/get_model.ts";
import type { ConnectionOption } from "../store/lease.ts";
import type { Change } from "./change.ts";
import type { DeadLetter } from "./_dead_letters.ts";
import { errorText } from "../errors/error_text.ts";
import { FollowLoop, type FollowLoopOptions } from "./_follow_loop.ts";
import { announceReplays, lagOf } from "./_lease.ts";

/** Options of {@linkcode follow}. */
export interface FollowOptions<M extends FrameworkModel> extends ConnectionOption {
  /**
   * The name of the follower, of letters, digits, `.`, `_` and `-`. One of the processes with the same class and name
   * handles the changes, and another continues when it ends. A new name begins with the changes after its first start.
   */
  readonly name: string;
  /**
   * Gets each change at least once, in order for each entity, and changes of several entities at the same time. If it
   * throws or exceeds `timeoutMS`, it is called again.
   */
  readonly handle: (change: Change<M>) => MaybePromise<unknown>;
  /**
   * Is called when changes are lost, after all earlier changes are handled, and again if it throws. The follower
   * continues with the changes since that call.
   *
   * @default {a line in the log}
   */
  readonly onLost?: ((lost: LostChanges) => MaybePromise<unknown>) | undefined;
  /**
   * Gets the error of each change that becomes a dead letter, and the first error of an outage of the database.
   *
   * @default {the log}
   */
  readonly onError?: ((error: unknown, change?: Change<M>) => unknown) | undefined;
  /**
   * The maximum number of changes that are handled at the same time, whose entities are in memory.
   *
   * @default {10}
   */
  readonly concurrency?: number | undefined;
  /**
   * The maximum duration of `handle` for one change, in milliseconds. A longer attempt counts as failed.
   *
   * @default {60000}
   */
  readonly timeoutMS?: number | undefined;
  /**
   * The number of failed calls of `handle` before the change becomes a dead letter. The pauses between them begin with
   * one second, and double up to one minute.
   *
   * @default {10}
   */
  readonly attempts?: number | undefined;
}

/** A report of changes that `handle` never gets, so that the application can build its copy of the data again. */
export interface LostChanges {
  /**
   * The reason. With `"history"`, the follower was stopped for too long, and the database no longer has the changes.
   * With `"dropped"`, the collection was dropped or renamed. With `"size"`, MongoDB cannot send a change, because its
   * identifier alone has several megabytes.
   */
  readonly reason: "history" | "dropped" | "size";
  /** The time up to which no change is lost, so that the application can repair later data. */
  readonly since: Date;
  /** Is aborted when another process may have the lease and call `onLost` as well. */
  readonly signal: AbortSignal;
}

/** A running follower of a collection. */
export interface Follower {
  /**
   * Returns the age of the oldest change that is not handled, in milliseconds, or 0 if all are handled. If no process
   * follows, returns the time since the last progress, or `undefined` before the first start.
   */
  readonly lag: () => Promise<number | undefined>;
  /** Lists the dead letters, oldest first, and at most 100 or `limit`. */
  readonly deadLetters: (options?: { readonly limit?: number }) => Promise<DeadLetter[]>;
  /**
   * Has the dead letters with these `id`s, or all, handled again. A letter is removed when it is handled.
   *
   * @returns The number of selected letters.
   */
  readonly replay: (ids?: readonly string[]) => Promise<number>;
  /**
   * Stops the follower. Another process continues within 5 seconds. Running handlers have 10 seconds, or `timeoutMS`,
   * to end. If the database does not answer, `stop()` takes 5 seconds more. Further calls return the first promise.
   */
  readonly stop: (options?: { readonly timeoutMS?: number }) => Promise<void>;
  /** Calls `stop()` at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const LIMITS = { concurrency: 10, timeoutMS: 60_000, attempts: 10 };

export type FollowTimes = Pick<FollowLoopOptions<FrameworkModel>, "leaseMS" | "pauses">;

const TIMES: FollowTimes = { leaseMS: 15_000, pauses: { firstMS: 1000, longestMS: 60_000 } };

const GRACE_MS = 10_000;

const LISTED = 100;

/**
 * Follows the committed changes of a collection, whichever program makes them. MongoDB must be a replica set, because a
 * standalone server has no change streams.
 *
 * The collections `mongrove_follows` and `mongrove_dead_letters` of the same database store the progress, the lease and
 * the dead letters. The function returns at once, and following begins when the connection is open.
 *
 * @throws {TypeError} If an option is wrong.
 * @throws {RangeError} If a number is not a positive integer, or a time is longer than a timer accepts.
 *
 * @example Keep a search index up to date
 * ```ts
 * import { FrameworkModel, prop } from "@mongrove/mongrove";
 * import { follow, type Follower } from "@mongrove/mongrove/changes";
 *
 * class Ticket extends FrameworkModel {
 *   @prop({ required: true })
 *   title!: string;
 * }
 *
 * const index = new Map<string, string>();
 *
 * export function keepIndex(): Follower {
 *   return follow(Ticket, {
 *     name: "search",
 *     async handle({ _id, entity }) {
 *       const ticket = await entity();
 *       if (ticket === undefined) index.delete(String(_id));
 *       else index.set(String(_id), ticket.title);
 *     },
 *     onLost: () => index.clear(),
 *   });
 * }
 * ```
 */
export function follow<C extends ModelClass>(
  target: C,
  options: FollowOptions<InstanceType<C>>,
): Follower {
  return startFollow(target, { options, times: TIMES });
}

/** Tests pass shorter times. */
export function startFollow<C extends ModelClass>(
  target: C,
  { options, times }: {
    readonly options: FollowOptions<InstanceType<C>>;
    readonly times: FollowTimes;
  },
): Follower {
  const { name, handle, onLost, onError, connection = mongoose.connection, ...given } = options;
  const limits = checkOptions(target, { name, handle, onLost, onError, given });
  const model = untypedModel(target, connection);
  const record = `${model.collection.collectionName}/${name}`;
  const report = (error: unknown, change?: Change<InstanceType<C>>) => {
    const log = (thrown: unknown) =>
      logThrown(thrown, { follower: record, ...change && { id: change.id } });
    if (onError === undefined) log(error);
    else Promise.resolve().then(() => onError(error, change)).catch(log);
  };
  const loop = new FollowLoop({
    ...limits,
    ...times,
    connection,
    model,
    name: record,
    handle,
    onError: report,
    onLost: onLost ??
      (({ reason, since }) =>
        report(new Error(`Changes since ${since.toISOString()} are lost: ${reason}`))),
  });
  let stopped: Promise<void> | undefined;
  const stop = ({ timeoutMS = GRACE_MS } = {}) => {
    if (Number.isSafeInteger(timeoutMS) && timeoutMS >= 0 && timeoutMS <= MAX_TIMER_MS) {
      return stopped ??= loop.stop(timeoutMS);
    }
    throw new RangeError(
      `Cannot stop "${record}": timeoutMS is ${timeoutMS}, not an integer from 0 to ${MAX_TIMER_MS}`,
    );
  };
  return {
    stop,
    [Symbol.asyncDispose]: stop,
    lag: () => lagOf(connection, record),
    deadLetters: async (given = {}) => {
      const { limit } = completeLimits(given, {
        defaults: { limit: LISTED },
        what: "dead letters",
      });
      return await loop.letters.list(limit);
    },
    replay: async (ids) => {
      const count = await loop.letters.mark(ids);
      if (count > 0) await announceReplays(connection, record);
      return count;
    },
  };
}

/** The log cannot show every thrown value, and the logging itself must never fail. */
function logThrown(thrown: unknown, context: object): void {
  try {
    logError(thrown, context);
  } catch {
    logError(errorText(thrown), context);
  }
}

function checkOptions(
  { name: target }: ModelClass,
  { name, handle, onLost, onError, given }: {
    readonly name: unknown;
    readonly handle: unknown;
    readonly onLost: unknown;
    readonly onError: unknown;
    readonly given: { readonly [N in keyof typeof LIMITS]?: number | undefined };
  },
) {
  if (typeof name !== "string") {
    throw new TypeError(`Cannot follow "${target}": the name is ${typeof name}, not a string`);
  }
  if (!/^[\w.-]+$/.test(name)) {
    throw new TypeError(`Cannot follow "${target}": the name is "${name}"`);
  }
  if (typeof handle !== "function") {
    throw new TypeError(`Cannot follow "${target}": handle is no function`);
  }
  const wrong = wrongOption({ onLost, onError }, { onLost: "function", onError: "function" });
  if (wrong !== undefined) throw new TypeError(`Cannot follow "${target}": ${wrong}`);
  return completeLimits(given, { defaults: LIMITS, what: "a follower" });
}
