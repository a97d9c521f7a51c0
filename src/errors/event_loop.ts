import { setImmediate } from "node:timers";

let last: Promise<unknown> = Promise.resolve();

/**
 * Resolves in a new turn of the event loop. Each call gets a different turn, so the server handles other requests
 * between two steps of long work.
 */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  last = turn;
  return turn;
}

/** The time for which long work may block the event loop. */
const SLICE_MS = 8;

/**
 * A timer that tells long work when to pause, so that the server can handle other requests. The work runs in slices of
 * `SLICE_MS`, each in a new turn of the event loop.
 */
export class TurnPacer {
  #begun = performance.now();

  /**
   * Whether long work has blocked the event loop for `SLICE_MS`. The work must call `rest()` before its next step, so
   * that the server can handle other requests.
   */
  get isDue(): boolean {
    return performance.now() - this.#begun >= SLICE_MS;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#begun = performance.now();
  }
}

/**
 * Returns the result of `map` for each element. The function works for about `SLICE_MS` in each turn of the event loop,
 * so a long list does not block other requests.
 */
export async function mapPaced<T, R>(all: Iterable<T>, map: (each: T) => R): Promise<R[]> {
  const pacer = new TurnPacer();
  const results: R[] = [];
  for (const each of all) {
    if (pacer.isDue) await pacer.rest();
    results.push(map(each));
  }
  return results;
}
