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
  async wait<T>(work: PromiseLike<T>): Promise<T> {
    const { left } = this;
    // Waits that overlap cost the time that passes, once.
    if (this.#waiting++ === 0) this.#since = performance.now();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(unavailable()), left);
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
      if (--this.#waiting === 0) this.#left -= performance.now() - this.#since;
    }
  }
}
