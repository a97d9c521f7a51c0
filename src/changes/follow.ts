import mongoose from "mongoose";
import type { Connection, Model } from "mongoose";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import { completeLimits } from "../errors/complete_limits.ts";
import { logError } from "../errors/log.ts";
import { getModel } from "../schema/get_model.ts";
import type { Change } from "./change.ts";
import type { DeadLetter } from "./_dead_letters.ts";
import { textOf } from "./_error_text.ts";
import { FollowLoop } from "./_follow_loop.ts";
import { announceReplays, lagOf } from "./_lease.ts";

/**
 * Options of {@linkcode follow}.
 *
 * @typeParam M The model.
 */
export interface FollowOptions<M extends FrameworkModel> {
  /**
   * The name of the follower: letters, digits, `.`, `_` and `-`. Processes that follow a class with the same name share the work:
   * one of them handles the changes, and another one goes on when it ends. A new name begins with the changes after its first
   * start.
   */
  readonly name: string;
  /**
   * The function that gets each change, at least once. Changes of one entity come in their order, one after the other; those
   * of different entities side by side. If it throws, or takes longer than `timeoutMS`, it is called again.
   */
  readonly handle: (change: Change<M>) => MaybePromise<unknown>;
  /**
   * The function that is told when changes cannot be read any more. It is called when all changes before are handled, and
   * again if it throws; then the follower goes on with the changes since it was called.
   *
   * @default {a line in the log}
   */
  readonly onLost?: ((lost: LostChanges) => MaybePromise<unknown>) | undefined;
  /**
   * The function that gets errors: of a change when it becomes a dead letter, and of the database, once until it works again.
   *
   * @default {the log}
   */
  readonly onError?: ((error: unknown, change?: Change<M>) => unknown) | undefined;
  /**
   * The connection of the collection. The follower keeps its records in the same database.
   *
   * @default {mongoose.connection}
   */
  readonly connection?: Connection | undefined;
  /**
   * How many changes are handled at once. Each keeps its entity in memory.
   *
   * @default {10}
   */
  readonly concurrency?: number | undefined;
  /**
   * The time that `handle` may take for a change, in milliseconds.
   *
   * @default {60000}
   */
  readonly timeoutMS?: number | undefined;
  /**
   * The time after which another process goes on if the one that handles changes is killed, in milliseconds.
   *
   * @default {15000}
   */
  readonly leaseMS?: number | undefined;
  /** How a change that failed is tried again. */
  readonly retry?: RetryOptions | undefined;
}

/** How {@linkcode follow} tries again what failed. */
export interface RetryOptions {
  /**
   * How often `handle` is called for a change before that becomes a dead letter.
   *
   * @default {10}
   */
  readonly attempts?: number | undefined;
  /**
   * The pause after the first attempt, in milliseconds. Each further pause is twice as long.
   *
   * @default {1000}
   */
  readonly pauseMS?: number | undefined;
  /**
   * The longest pause, in milliseconds.
   *
   * @default {60000}
   */
  readonly maxPauseMS?: number | undefined;
}

/** Changes that were not delivered. */
export interface LostChanges {
  /**
   * With `"history"`, the database no longer has the changes: the follower was stopped for too long. With `"dropped"`, the
   * collection was dropped or renamed, and nothing tells of its entities.
   */
  readonly reason: "history" | "dropped";
  /** The time of the last change that was delivered, or a later one before which nothing is lost. */
  readonly since: Date;
  /** Aborted when another process may go on with this. */
  readonly signal: AbortSignal;
}

/** A follower of a collection, as {@linkcode follow} returns it. */
export interface Follower {
  /**
   * Tells how old the oldest change is that is not handled, in milliseconds, whichever process does that: 0 if there is none, and
   * the time since then if no process follows. `undefined` before the first start.
   */
  readonly lag: () => Promise<number | undefined>;
  /** Lists the changes that failed in all attempts, oldest first: at most 100, unless `limit` says otherwise. */
  readonly deadLetters: (options?: { readonly limit?: number }) => Promise<DeadLetter[]>;
  /**
   * Has dead letters handled again, all or those with these identifiers, by the process that handles changes. A letter that is
   * handled is removed.
   *
   * @returns How many there are.
   */
  readonly replay: (ids?: readonly string[]) => Promise<number>;
  /**
   * Stops following: another process goes on within a third of `leaseMS`. The handlers that run have 10 seconds to end, unless
   * `timeoutMS` says otherwise. If the database does not answer, that takes 5 seconds more. Further calls do nothing.
   */
  readonly stop: (options?: { readonly timeoutMS?: number }) => Promise<void>;
  /** Calls `stop()` at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

const LIMITS = { concurrency: 10, timeoutMS: 60_000, leaseMS: 15_000 };

const RETRY = { attempts: 10, pauseMS: 1000, maxPauseMS: 60_000 };

const GRACE_MS = 10_000;

const LISTED = 100;

/** The longest time that timers know: with more they end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Follows the committed changes of a collection, whoever makes them: requests, other programs, or somebody in a shell. Each is
 * handled at least once, in order for each entity. It needs a replica set.
 *
 * The place of the follower, and who handles its changes, are kept in the collection `mongrove_follows` of the same database,
 * dead letters in `mongrove_dead_letters`. The function returns at once, and waits for the connection if it is not open.
 *
 * @typeParam C The class.
 * @param target The class.
 * @param options The name, the handler, and how it is called.
 * @returns What stops the follower, and tells how it does.
 * @throws {TypeError} If an option is wrong.
 * @throws {RangeError} If a number is not a positive integer, or a time is longer than timers know.
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
  const { name, handle, onLost, onError, connection = mongoose.connection, retry, ...times } =
    options;
  const limits = checkOptions(target, { name, handle, retry, times });
  const model = getModel(target, connection) as unknown as Model<unknown>;
  const record = `${model.collection.collectionName}/${name}`;
  const report = (error: unknown, change?: Change<InstanceType<C>>) => {
    const log = (thrown: unknown) =>
      logThrown(thrown, { follower: record, ...change && { id: change.id } });
    if (onError === undefined) log(error);
    else Promise.resolve().then(() => onError(error, change)).catch(log);
  };
  const loop = new FollowLoop({
    ...{ ...limits, connection, model, name: record, handle, onError: report },
    onLost: onLost ??
      (({ reason, since }) =>
        report(new Error(`Changes since ${since.toISOString()} are lost: ${reason}`))),
  });
  let stopped: Promise<void> | undefined;
  const stop = ({ timeoutMS = GRACE_MS } = {}) => stopped ??= loop.stop(timeoutMS);
  return {
    ...{ stop, [Symbol.asyncDispose]: stop },
    lag: () => lagOf(connection, record),
    deadLetters: ({ limit = LISTED } = {}) => loop.letters.list(limit),
    replay: async (ids) => {
      const count = await loop.letters.mark(ids);
      if (count > 0) await announceReplays(connection, record);
      return count;
    },
  };
}

/** Logs any value that was thrown: the log cannot show some. */
function logThrown(thrown: unknown, context: object): void {
  try {
    logError(thrown, context);
  } catch {
    logError(textOf(thrown), context);
  }
}

/** Checks options, and completes their numbers with the defaults. */
function checkOptions(
  { name: target }: ModelClass,
  { name, handle, retry = {}, times }: {
    readonly name: unknown;
    readonly handle: unknown;
    readonly retry: RetryOptions | undefined;
    readonly times: { readonly [N in keyof typeof LIMITS]?: number | undefined };
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
  const limits = completeLimits(times, { defaults: LIMITS, what: "a follower" });
  const pauses = completeLimits(retry, { defaults: RETRY, what: "the attempts of a follower" });
  if (Math.max(limits.timeoutMS, limits.leaseMS, pauses.maxPauseMS) > MAX_TIMER_MS) {
    throw new RangeError(`Cannot follow "${target}": a time is more than ${MAX_TIMER_MS}`);
  }
  return { ...limits, retry: pauses };
}
