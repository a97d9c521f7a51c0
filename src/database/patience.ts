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
  #left: number;
  #waiting = 0;
  #since = 0;
  readonly #sendings: Sending[] = [];

  /** @param budget The milliseconds that all waits may take. */
  constructor(budget: number) {
    this.#left = budget;
  }

  /** The milliseconds that are left. */
  get left(): number {
    const running = this.#waiting > 0 ? performance.now() - this.#since : 0;
    return Math.max(0, this.#left - running);
  }

  /**
   * Gives the options of one statement that writes: it is not sent once the time is up, whatever it waits for, and the
   * database may take no longer for it than is left.
   */
  statement(session?: ClientSession): StatementOptions {
    const sending = openSending(unavailable);
    const { left } = this;
    if (left > 0) this.#sendings.push(sending);
    else sending.stop();
    return {
      signal: sending.signal,
      maxTimeMS: Math.max(1, Math.ceil(left - MARGIN_MS)),
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

  #end(): void {
    if (--this.#waiting === 0) this.#left -= performance.now() - this.#since;
  }
}
