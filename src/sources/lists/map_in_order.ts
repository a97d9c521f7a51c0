import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { TurnPacer } from "../../errors/event_loop.ts";

const WINDOW = 32;

const BATCH = 128;

/**
 * Calls an asynchronous function, such as a hook, for each entity of a list, and yields the results in the order of the
 * entities. Several calls run at a time, but their number is limited, so that a long list does not start thousands of
 * calls. An entity whose result is `undefined` is left out, because a hook has hidden it. The first error ends the
 * iteration.
 */
export async function* mapInOrder<T, R>(
  lists: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  map: (entity: T) => MaybePromise<R | undefined>,
): AsyncGenerator<R[]> {
  const pending: Promise<R | undefined>[] = [];
  const pacer = new TurnPacer();
  let kept: R[] = [];
  const add = (value: R | undefined) => {
    if (value !== undefined) kept.push(value);
  };
  for await (const entities of lists) {
    for (const entity of entities) {
      if (pacer.isDue) await pacer.rest();
      let result: MaybePromise<R | undefined>;
      try {
        result = map(entity);
      } catch (error) {
        // The error of an earlier entity is thrown first, so that a client gets the same error, whichever of the hooks
        // fails first.
        for (const earlier of pending) await earlier;
        throw error;
      }
      if (!isPromise(result) && pending.length === 0) add(result);
      else {
        pending.push(settled(result));
        if (pending.length >= WINDOW) add(await pending.shift());
      }
      // The entities may come in a single array. The results are yielded in batches, so that the caller can send the
      // first results before the last entity is mapped.
      if (kept.length >= BATCH) {
        yield kept;
        kept = [];
      }
    }
    if (kept.length > 0) yield kept;
    kept = [];
  }
  for (const result of pending) add(await result);
  if (kept.length > 0) yield kept;
}

/**
 * Calls a function, such as a hook, for each element of an array, with a limited number of calls at a time. Returns the
 * results in the order of the elements, without `undefined`.
 */
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

/**
 * Returns a promise whose rejection may be handled later. Without the empty handler, the process would report an
 * unhandled rejection in the meantime.
 */
function settled<T>(result: MaybePromise<T>): Promise<T> {
  const promise = Promise.resolve(result);
  promise.catch(() => {});
  return promise;
}
