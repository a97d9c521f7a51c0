/** A generator of choices that repeats itself for a seed. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** Returns a number from 0 to 1. */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  one<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Returns some of the values. */
  some<T>(values: readonly T[], probability: number): T[] {
    return values.filter(() => this.chance(probability));
  }
}
