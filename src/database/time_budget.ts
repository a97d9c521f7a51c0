import type { ClientSession } from "mongoose";
import { setMaxListeners } from "node:events";
import { StoreFailure } from "../errors/failure.ts";
import type { StatementOptions } from "../schema/mongoose/statements/save_by.ts";

/** The default time limit of the database for one operation, in milliseconds. */
export const MAX_TIME_MS = 10_000;

/**
 * The time that the framework waits longer than the database may take, in milliseconds. The database can then report a
 * time-out itself, before the framework gives up.
 */
export const MARGIN_MS = 1000;

const LONGEST_TICK_MS = 1000;

/**
 * The time for which one request may wait for the database. The time is counted by a timer in short steps (ticks). If
 * the process is blocked, a long blockage counts as only one step, because the database has not caused it.
 */
export class TimeBudget {
  readonly #budget: number;
  readonly #tick: number;
  #left: number;
  #tickedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #waits = new Set<(late: Error) => void>();
  /**
   * The controller that aborts the write statements of the request. The controller is created for the first write, so
   * that requests that only read create no controller.
   */
  #expiry: AbortController | undefined;
  #expired = false;
  /** Whether the request spends its time on a transaction of many writes, so that a smaller request may succeed. */
  isLong = false;
  /**
   * Whether the request waits for another write of the same data. The error at the deadline then says that the data is
   * locked, and not that the database is not available.
   */
  isLocked = false;

  constructor(budget: number) {
    this.#budget = budget;
    this.#left = budget;
    this.#tick = Math.min(budget / 10, LONGEST_TICK_MS);
  }

  /** Returns the error for a request whose time is up. */
  failure(cause?: unknown): StoreFailure {
    const reason = this.isLocked ? "locked" : this.isLong ? "late" : "outage";
    return new StoreFailure({ kind: "away", reason }, cause);
  }

  get left(): number {
    if (this.#waits.size === 0) return this.#left;
    const running = Math.min(performance.now() - this.#tickedAt, this.#tick);
    return Math.max(0, this.#left - running);
  }

  get expired(): boolean {
    return this.#expired;
  }

  /**
   * Returns the options of one write statement. The statement is not sent after the deadline, because the client has
   * got its answer by then. The database stops the statement at the deadline or after `mostMS`.
   */
  statement(session?: ClientSession, mostMS = Infinity): StatementOptions {
    const expiry = this.#expiry ??= openExpiry();
    if (this.#expired) expiry.abort(new StoreFailure({ kind: "away", reason: "outage" }));
    // A statement also spends time in the network. The time limit that is sent to the database is therefore shorter
    // than the remaining time of the HTTP request, so that the database stops the statement before the request fails.
    const { left } = this;
    const time = Math.max(left - MARGIN_MS, left / 2);
    const maxTimeMS = Math.max(1, Math.ceil(Math.min(time, this.#budget - MARGIN_MS, mostMS)));
    return {
      signal: expiry.signal,
      maxTimeMS,
      ...session && { session },
    };
  }

  /** Waits for work on the database. Rejects at the deadline, although the work may still succeed. */
  wait<T>(work: PromiseLike<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#waits.size === 0) this.#count();
      this.#waits.add(reject);
      work.then((value) => {
        this.#end(reject);
        resolve(value);
      }, (error) => {
        this.#end(reject);
        reject(error);
      });
    });
  }

  /**
   * Waits for the next batch of a read. The time limit of the request starts again for each batch, so that a long list
   * does not exceed it. The option `maxTimeMS` of the cursor limits the time of the database for all batches together.
   */
  waitForNext<T>(batch: PromiseLike<T>): Promise<T> {
    this.renew();
    return this.wait(batch);
  }

  /**
   * Starts the time limit again for the next step of a request, such as the next batch of a list. Does nothing if the
   * time limit has passed already.
   */
  renew(): void {
    if (this.#waits.size === 0 && !this.expired) this.#left = this.#budget;
  }

  #count(): void {
    this.#tickedAt = performance.now();
    const tick = Math.min(this.#left, this.#tick);
    this.#timer = setTimeout(() => {
      // When the time limit has passed, the timer runs once more with 0 ms before the request fails. An answer of the
      // database that arrived while the process was blocked is read during this time, and the request does not fail.
      if (tick === 0) return this.#expire();
      this.#left -= tick;
      this.#count();
    }, tick);
  }

  #end(wait: (late: Error) => void): void {
    const { left } = this;
    if (!this.#waits.delete(wait) || this.#waits.size > 0) return;
    clearTimeout(this.#timer);
    this.#left = left;
  }

  #expire(): void {
    const cause = new DOMException("The time for this request is up", "TimeoutError");
    const late = this.failure(cause);
    this.#expired = true;
    this.#expiry?.abort(late);
    for (const fail of this.#waits) fail(late);
    this.#waits.clear();
  }
}

/**
 * Creates the controller that aborts the write statements of a request. Each statement adds a listener to the signal of
 * this controller. The limit of listeners is switched off, because Node would warn about more than ten listeners.
 */
function openExpiry(): AbortController {
  const expiry = new AbortController();
  setMaxListeners(0, expiry.signal);
  return expiry;
}
