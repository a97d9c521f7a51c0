import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { isPromise } from "../../declare/hooks/and_then.ts";

/** How many entities of a list are with hooks that take their time. */
const WINDOW = 32;

/** How many results are handed over at a time. */
const BATCH = 128;

/**
 * Maps entities through hooks, several at a time, in order, and leaves out what becomes `undefined`.
 *
 * The first failure, in order, ends it; what is still under way is let go.
 *
 * @param lists The entities, several at a time.
 * @param map Gives what to keep, at once or later.
 */
export async function* keep<T, R>(
  lists: AsyncIterable<readonly T[]> | Iterable<readonly T[]>,
  map: (entity: T) => MaybePromise<R | undefined>,
): AsyncGenerator<R[]> {
  const pending: Promise<R | undefined>[] = [];
  let kept: R[] = [];
  const add = (value: R | undefined) => {
    if (value !== undefined) kept.push(value);
  };
  for await (const entities of lists) {
    for (const entity of entities) {
      let result: MaybePromise<R | undefined>;
      try {
        result = map(entity);
      } catch (error) {
        // What is still under way came before.
        for (const earlier of pending) await earlier;
        throw error;
      }
      if (!isPromise(result) && pending.length === 0) add(result);
      else {
        pending.push(settled(result));
        if (pending.length >= WINDOW) add(await pending.shift());
      }
      // One list may hold everything: what is kept goes on before its end.
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

/** A promise whose failure may wait for its turn. */
function settled<T>(result: MaybePromise<T>): Promise<T> {
  const promise = Promise.resolve(result);
  promise.catch(() => {});
  return promise;
}
