import type { ClientSession } from "mongoose";
import { setMaxListeners } from "node:events";
import { StoreFailure } from "../errors/failure.ts";
import type { StatementOptions } from "../schema/mongoose/statements/save_by.ts";

export const MAX_TIME_MS = 10_000;

/** The framework waits longer than the database may take, so that the database reports the time-out. */
export const MARGIN_MS = 1000;

const LONGEST_TICK_MS = 1000;

/** A timer counts in short steps, so that a blocked process counts as one step. */
export class TimeBudget {
  readonly #budget: number;
  readonly #tick: number;
  #left: number;
  #tickedAt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #waits = new Set<(late: Error) => void>();
  #expiry: AbortController | undefined;
  #expired = false;
  /** Whether one transaction has many writes. A time-out then says that fewer writes may succeed. */
  isLong = false;
  /** Whether the request waits for another write of the same data. A time-out then says so. */
  isLocked = false;

  constructor(budget: number) {
    this.#budget = budget;
    this.#left = budget;
    this.#tick = Math.min(budget / 10, LONGEST_TICK_MS);
  }

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

  /** No statement is sent after the deadline, because the client has its answer by then. */
  statement(session?: ClientSession, mostMS = Infinity): StatementOptions {
    const expiry = this.#expiry ??= makeExpiry();
    if (this.#expired) expiry.abort(new StoreFailure({ kind: "away", reason: "outage" }));
    const { left } = this;
    const time = Math.max(left - MARGIN_MS, left / 2);
    const maxTimeMS = Math.max(1, Math.ceil(Math.min(time, this.#budget - MARGIN_MS, mostMS)));
    return {
      signal: expiry.signal,
      maxTimeMS,
      ...session && { session },
    };
  }

  /** Rejects at the deadline, although the work may still succeed. */
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

  /** The time limit starts again for each batch. The cursor's `maxTimeMS` limits all batches together. */
  waitForNext<T>(batch: PromiseLike<T>): Promise<T> {
    this.renew();
    return this.wait(batch);
  }

  renew(): void {
    if (this.#waits.size === 0 && !this.expired) this.#left = this.#budget;
  }

  #count(): void {
    this.#tickedAt = performance.now();
    const tick = Math.min(this.#left, this.#tick);
    this.#timer = setTimeout(() => {
      // The last timer of 0 ms lets the process read an answer that arrived while it was blocked.
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

/** Each statement adds a listener to the signal, and Node would warn of more than ten. */
function makeExpiry(): AbortController {
  const expiry = new AbortController();
  setMaxListeners(0, expiry.signal);
  return expiry;
}
