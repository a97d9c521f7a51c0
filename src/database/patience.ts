import type { ClientSession } from "mongoose";
import { liftDeadline, setDeadline } from "./deadline.ts";
import { unavailable } from "../errors/refusals.ts";
import { openSending } from "./sending.ts";
import type { Sending } from "./sending.ts";

/** How much longer the framework waits than the database may take. */
export const MARGIN_MS = 1000;

/** The driver's options of one statement. */
export interface StatementOptions {
  /** Keeps the driver from sending it once the time is up. */
  readonly signal: AbortSignal;
  /** The time that the database may take for it. */
  readonly maxTimeMS: number;
  /** The session of the transaction that it belongs to. */
  readonly session?: ClientSession;
}

/**
 * How long one request waits for the database, all its waits together. Drivers have time-outs of their own, of half a
 * minute and more; this one holds whatever the host has set.
 */
export class Patience {
  readonly #budget: number;
  #left: number;
  #waiting = 0;
  #since = 0;
  #expired = false;
  readonly #sendings: Sending[] = [];

  /** @param budget The milliseconds that all waits may take. */
  constructor(budget: number) {
    this.#budget = budget;
    this.#left = budget;
  }

  /** The milliseconds that are left. */
  get left(): number {
    const running = this.#waiting > 0 ? performance.now() - this.#since : 0;
    return Math.max(0, this.#left - running);
  }

  /** Whether the time was up while something was waited for. */
  get expired(): boolean {
    return this.#expired;
  }

  /**
   * Gives the options of one statement that writes: it is not sent once the time is up, whatever it waits for, and the
   * database may take no longer for it than is left.
   */
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

  /**
   * Waits for the database. What it waited for may still happen after the time is up.
   *
   * @throws {RestError} 503 if the time is up first.
   */
  wait<T>(work: PromiseLike<T>): Promise<T> {
    // Waits that overlap cost the time that passes, once.
    if (this.#waiting++ === 0) this.#since = performance.now();
    return new Promise((resolve, reject) => {
      const expire = () => {
        this.#expired = true;
        this.#end();
        this.#left = 0;
        for (const sending of this.#sendings.splice(0)) sending.stop();
        reject(unavailable(new DOMException("The time for this request is up", "TimeoutError")));
      };
      const deadline = { at: performance.now() + this.left, expire };
      setDeadline(deadline);
      work.then((value) => {
        if (liftDeadline(deadline)) this.#end();
        resolve(value);
      }, (error) => {
        if (liftDeadline(deadline)) this.#end();
        reject(error);
      });
    });
  }

  /**
   * Waits for the next of several batches: each may take the whole time. The database itself bounds them together.
   *
   * @throws {RestError} 503 if the time is up first.
   */
  waitForNext<T>(batch: PromiseLike<T>): Promise<T> {
    if (this.#waiting === 0 && !this.#expired) this.#left = this.#budget;
    return this.wait(batch);
  }

  /** What the database may take for one statement: what is left, but for the way to it and back. */
  #databaseTime(): number {
    const { left } = this;
    const time = Math.max(left - MARGIN_MS, left / 2);
    return Math.max(1, Math.ceil(Math.min(time, this.#budget - MARGIN_MS)));
  }

  #end(): void {
    if (--this.#waiting > 0) return;
    this.#left -= performance.now() - this.#since;
    // An answer that came too late and still counts had waited for this process: the time was not the database's.
    if (this.#left <= 0 && !this.#expired) this.#left = this.#budget;
  }
}
