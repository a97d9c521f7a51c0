import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { TurnPacer } from "../../errors/event_loop.ts";

const WINDOW = 32;

const BATCH = 128;

/**
 * Limits how many calls run at a time. Results keep the order, without `undefined`, and the first error ends the
 * iteration.
 */
export async function* mapInOrder<T, R>(
  lists: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  map: (entity: T) => MaybePromise<R | undefined>,
): AsyncGenerator<R[]> {
  const pending: Promise<R | undefined>[] = [];
  const pacer = new TurnPacer();
  let batch: R[] = [];
  const add = (value: R | undefined) => {
    if (value !== undefined) batch.push(value);
  };
  for await (const entities of lists) {
    for (const entity of entities) {
      if (pacer.isDue) await pacer.rest();
      let result: MaybePromise<R | undefined>;
      try {
        result = map(entity);
      } catch (error) {
        // An earlier entity may still fail. The client then gets its error, whichever hook is faster.
        for (const earlier of pending) await earlier;
        throw error;
      }
      if (!isPromise(result) && pending.length === 0) add(result);
      else {
        pending.push(settled(result));
        if (pending.length >= WINDOW) add(await pending.shift());
      }
      if (batch.length >= BATCH) {
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
    batch = [];
  }
  for (const result of pending) add(await result);
  if (batch.length > 0) yield batch;
}

export function mapAll<T, R>(
  list: readonly T[],
  map: (each: T) => MaybePromise<R | undefined>,
): Promise<R[]> {
  return collect(mapInOrder([list], map));
}

export async function collect<T>(lists: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const some of lists) all.push(...some);
  return all;
}

function settled<T>(result: MaybePromise<T>): Promise<T> {
  const promise = Promise.resolve(result);
  promise.catch(() => {});
  return promise;
}
