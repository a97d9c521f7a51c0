import type { ClientSession } from "mongoose";
import { setDeadline } from "./deadline.ts";
import { unavailable } from "../errors/refusals.ts";
import { openSending } from "./sending.ts";
import type { Sending } from "./sending.ts";

/** The time limit of the database for one operation, unless the host sets another one. */
export const MAX_TIME_MS = 10_000;

/** How much longer the framework waits than the database may take. */
export const MARGIN_MS = 1000;

export interface StatementOptions {
  readonly signal: AbortSignal;
  readonly maxTimeMS: number;
  readonly session?: ClientSession;
}

/** The time that one request may wait for the database, all waits together. The time-outs of the driver do not matter. */
export class TimeBudget {
  readonly #budget: number;
  #left: number;
  #waiting = 0;
  #since = 0;
  #expired = false;
  readonly #sendings: Sending[] = [];

  constructor(budget: number) {
    this.#budget = budget;
    this.#left = budget;
  }

  get left(): number {
    const running = this.#waiting > 0 ? performance.now() - this.#since : 0;
    return Math.max(0, this.#left - running);
  }

  get expired(): boolean {
    return this.#expired;
  }

  /** The options of one statement that writes. It is not sent after the deadline, and the database stops it then. */
  statement(session?: ClientSession): StatementOptions {
    const sending = openSending(unavailable);
    if (this.#expired) sending.stop();
    else this.#sendings.push(sending);
    return {
      signal: sending.signal,
      maxTimeMS: this.#databaseTime(),
      ...session && { session },
    };
  }

  /** Waits for the database. After the deadline it fails with 503, though the work may still be done. */
  wait<T>(work: PromiseLike<T>): Promise<T> {
    if (this.#waiting++ === 0) this.#since = performance.now();
    return new Promise((resolve, reject) => {
      const lift = setDeadline(this.left, () => {
        this.#expired = true;
        this.#end();
        this.#left = 0;
        for (const sending of this.#sendings.splice(0)) sending.stop();
        reject(unavailable(new DOMException("The time for this request is up", "TimeoutError")));
      });
      work.then((value) => {
        if (lift()) this.#end();
        resolve(value);
      }, (error) => {
        if (lift()) this.#end();
        reject(error);
      });
    });
  }

  /** Waits for the next of several batches: each may take the whole time; `maxTimeMS` bounds them together. */
  waitForNext<T>(batch: PromiseLike<T>): Promise<T> {
    if (this.#waiting === 0 && !this.#expired) this.#left = this.#budget;
    return this.wait(batch);
  }

  /** What the database may take for one statement: what is left, without the way to it and back. */
  #databaseTime(): number {
    const { left } = this;
    const time = Math.max(left - MARGIN_MS, left / 2);
    return Math.max(1, Math.ceil(Math.min(time, this.#budget - MARGIN_MS)));
  }

  #end(): void {
    if (--this.#waiting > 0) return;
    this.#left -= performance.now() - this.#since;
    // The work has ended after the deadline, and before our timer: this process was busy, not the database.
    if (this.#left <= 0 && !this.#expired) this.#left = this.#budget;
  }
}
