import { setImmediate } from "node:timers";

let last: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop that no other long work takes: between two parts of it, other requests are served. */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  last = turn;
  return turn;
}

/** The time for which long work may hold the event loop. */
const SLICE_MS = 8;

/** Cuts long work into slices, each in a turn of the event loop. */
export class TurnPacer {
  #begun = performance.now();

  /** Whether the slice is over: the work has to rest before it goes on. */
  get isDue(): boolean {
    return performance.now() - this.#begun >= SLICE_MS;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#begun = performance.now();
  }
}

/** Maps a list in slices of the event loop. */
export async function mapPaced<T, R>(all: Iterable<T>, map: (each: T) => R): Promise<R[]> {
  const pacer = new TurnPacer();
  const results: R[] = [];
  for (const each of all) {
    if (pacer.isDue) await pacer.rest();
    results.push(map(each));
  }
  return results;
}
