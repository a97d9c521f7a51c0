import { setImmediate } from "node:timers";

let last: Promise<unknown> = Promise.resolve();

/** Parallel calls continue in different turns of the event loop, so that other requests run in between. */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  last = turn;
  return turn;
}

const SLICE_MS = 8;

export class TurnPacer {
  #begun = performance.now();

  get isDue(): boolean {
    return performance.now() - this.#begun >= SLICE_MS;
  }

  async rest(): Promise<void> {
    await nextTurn();
    this.#begun = performance.now();
  }
}

export async function mapPaced<T, R>(all: Iterable<T>, map: (each: T) => R): Promise<R[]> {
  const pacer = new TurnPacer();
  const results: R[] = [];
  for (const each of all) {
    if (pacer.isDue) await pacer.rest();
    results.push(map(each));
  }
  return results;
}
