import { liftDeadline, setDeadline } from "./deadline.ts";
import { unavailable } from "../errors/refusals.ts";

/**
 * How long one request waits for the database, all its waits together. Drivers have time-outs of their own, of half a
 * minute and more; this one holds whatever the host has set.
 */
export class Patience {
  #left: number;
  #waiting = 0;
  #since = 0;

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
        reject(unavailable());
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
