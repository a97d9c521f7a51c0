import mongoose from "mongoose";
import type { Connection } from "mongoose";
import type { MaybePromise } from "../declare/hooks/hooks.ts";
import { type Duration, durationMS } from "../declare/model/duration.ts";
import { wrongOption } from "../errors/option_kinds.ts";
import { unknownOption } from "../errors/unknown_option.ts";
import { endAtClose } from "../http/close_server.ts";
import { checkConnection } from "../schema/mongoose/connections.ts";
import type { ConnectionOption } from "../store/lease.ts";
import { RepeatLoop } from "./_repeat_loop.ts";

/** The argument of the function of {@linkcode every}. */
export interface RunContext {
  /** The connection whose database has the record of the runs. */
  readonly connection: Connection;
  /** The number of earlier runs that were due but that no process has begun. */
  readonly missed: number;
  /**
   * Is aborted by `Framework.close()`, by `stop()`, or when another process may have the lease. If the function then
   * throws, the run is repeated.
   */
  readonly signal: AbortSignal;
}

/** Options of {@linkcode every}. */
export interface EveryOptions extends ConnectionOption {
  /**
   * Gets the error of each failed run, and the first error of an outage of the database.
   *
   * @default {the log}
   */
  readonly onError?: ((error: unknown) => unknown) | undefined;
}

/** Repeated work of this process. */
export interface RepeatedWork {
  /** Ends the repetition in this process, and waits for a run in progress. `Framework.close()` calls `stop()` too. */
  readonly stop: () => Promise<void>;
  /** Calls `stop()` at the end of an `await using` block. */
  readonly [Symbol.asyncDispose]: () => Promise<void>;
}

/** The names that this process repeats. A second loop of the same name would only compete. */
const repeated = new WeakMap<Connection, Set<string>>();

/**
 * Runs a function at intervals, in one process at a time, under a lease that ends 30 seconds after a crash. The first
 * run of a name begins at once, and later runs at whole intervals after it, but never before the last has ended. One
 * run makes up for all missed runs.
 *
 * A failed run is not repeated before the next interval. A run whose process was killed is repeated, so the function
 * must be repeatable. The collection `mongrove_runs` of the database records the last run of each name.
 *
 * @param interval The time between the beginnings of runs, such as `"1h"`.
 * @param name The name, by which processes exclude each other.
 * @throws {TypeError} If an argument is wrong, or this process already repeats this name.
 *
 * @example Remind of late loans
 * ```ts ignore
 * import { every } from "@mongrove/mongrove/work";
 * import { remindOfLateLoans } from "./loans.ts";
 *
 * every("1h", "late loans", ({ signal }) => remindOfLateLoans(signal));
 * ```
 */
export function every(
  interval: Duration,
  name: string,
  ...rest: [run: (context: RunContext) => MaybePromise<unknown>, options?: EveryOptions]
): RepeatedWork {
  const [run, { connection = mongoose.connection, onError, ...others } = {}] = rest;
  const fail = (problem: string) => new TypeError(`Cannot repeat "${name}": ${problem}`);
  if (typeof name !== "string" || name === "") throw fail("the name is not a text");
  const intervalMS = durationMS(interval);
  if (intervalMS === undefined || !Number.isSafeInteger(intervalMS)) {
    throw fail(`the interval is "${interval}", not a time such as "1h"`);
  }
  if (typeof run !== "function") throw fail("the work is not a function");
  const unknown = unknownOption(others, { connection, onError });
  if (unknown !== undefined) throw fail(`there is no option ${unknown}`);
  const wrong = wrongOption({ onError }, { onError: "function" });
  if (wrong !== undefined) throw fail(wrong);
  checkConnection(connection);
  const names = repeated.get(connection) ?? new Set();
  if (names.has(name)) throw fail("this process repeats it already");
  repeated.set(connection, names.add(name));
  const loop = new RepeatLoop({ connection, name, intervalMS, run, onError });
  const stop = async () => {
    await loop.stop();
    forget();
    names.delete(name);
  };
  const forget = endAtClose(stop);
  return { stop, [Symbol.asyncDispose]: stop };
}
