import type { ClientSession } from "mongoose";
import { setMaxListeners } from "node:events";
import { unavailable } from "../errors/refusals.ts";
import type { WriteOptions } from "../schema/mongoose/statements/save_by.ts";

/** The time limit of the database for one operation, unless the host sets another one. */
export const MAX_TIME_MS = 10_000;

/** How much longer the framework waits than the database may take. */
export const MARGIN_MS = 1000;

const LONGEST_TICK_MS = 1000;

/**
 * The time that one request may wait for the database, all waits together.
 *
 * It is counted by ticks of a timer: however long this process stands still, that takes one tick.
 */
export class TimeBudget {
  readonly #budget: number;
  readonly #tick: number;
  #left: number;
  #tickedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #waits = new Set<(late: Error) => void>();
  /** Made for the first write: reads do not pay for it. */
  #expiry: AbortController | undefined;
  #expired = false;
  /** Whether it is spent on a transaction of many writes. */
  isLong = false;
  /** Whether it is spent on waiting for another write of the same data. */
  isLocked = false;

  constructor(budget: number) {
    this.#budget = budget;
    this.#left = budget;
    this.#tick = Math.min(budget / 10, LONGEST_TICK_MS);
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
   * The options of one statement that writes. It is not sent after the deadline, and the database stops it then, or after
   * `mostMS`.
   */
  statement(session?: ClientSession, mostMS = Infinity): WriteOptions {
    const expiry = this.#expiry ??= openExpiry();
    if (this.#expired) expiry.abort(unavailable());
    // The database may not take the time of the way to it and back.
    const { left } = this;
    const time = Math.max(left - MARGIN_MS, left / 2);
    const maxTimeMS = Math.max(1, Math.ceil(Math.min(time, this.#budget - MARGIN_MS, mostMS)));
    return {
      signal: expiry.signal,
      maxTimeMS,
      ...session && { session },
    };
  }

  /** Waits for the database. After the deadline it fails with 503, though the work may still be done. */
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

  /** Waits for the next of several batches: each may take the whole time; `maxTimeMS` bounds them together. */
  waitForNext<T>(batch: PromiseLike<T>): Promise<T> {
    this.renew();
    return this.wait(batch);
  }

  /** Begins anew, for the next of several parts of a request. */
  renew(): void {
    if (this.#waits.size === 0 && !this.expired) this.#left = this.#budget;
  }

  #count(): void {
    this.#tickedAt = performance.now();
    const tick = Math.min(this.#left, this.#tick);
    this.#timer = setTimeout(() => {
      // An answer that came during the last tick is read before this one, which takes no time.
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
    const late = unavailable(cause, this);
    this.#expired = true;
    this.#expiry?.abort(late);
    for (const fail of this.#waits) fail(late);
    this.#waits.clear();
  }
}

/** Opens the signal of a request. Each of its statements listens to it, and Node warns of more than ten listeners. */
function openExpiry(): AbortController {
  const expiry = new AbortController();
  setMaxListeners(0, expiry.signal);
  return expiry;
}
