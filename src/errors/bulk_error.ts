import { TurnPacer } from "./event_loop.ts";

/**
 * The errors of a request that writes several entities. `errors` maps the index of each failed entity, in the list of
 * entities to write, to the error of that entity. The cause is the first of these errors.
 */
export class BulkError extends Error {
  constructor(readonly errors: ReadonlyMap<number, unknown>) {
    const [first] = errors.values();
    super(`${errors.size} of many entities cannot be written`, { cause: first });
  }
}

/**
 * Throws the first error of a `BulkError`, or any other error unchanged. The answer to the request then reports the
 * first error alone, without the index of its entity.
 */
export function throwOnly(error: unknown): never {
  throw error instanceof BulkError ? error.cause : error;
}

/**
 * Runs a function for each element of a list, one after the other, and lets other requests run in between. An error
 * does not end the loop, so that the answer can report the errors of all elements. At the end, the function throws all
 * errors in one `BulkError`.
 */
export async function eachInTurn<T>(
  all: readonly T[],
  work: (each: T) => Promise<unknown>,
): Promise<void> {
  const errors = new Map<number, unknown>();
  const pacer = new TurnPacer();
  for (const [index, each] of all.entries()) {
    if (pacer.isDue) await pacer.rest();
    try {
      await work(each);
    } catch (error) {
      errors.set(index, error);
    }
  }
  if (errors.size > 0) throw new BulkError(errors);
}
