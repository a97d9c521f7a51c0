import { TurnPacer } from "./event_loop.ts";

/** The errors of some entities of a request that writes many, by their places in its body. */
export class BulkError extends Error {
  constructor(readonly errors: ReadonlyMap<number, unknown>) {
    const [first] = errors.values();
    super(`${errors.size} of many entities cannot be written`, { cause: first });
  }
}

/** Throws the error of the only entity of a request as it would be without the others. */
export function throwOnly(error: unknown): never {
  throw error instanceof BulkError ? error.cause : error;
}

/** Runs work on each of many, one after the other, in slices of the event loop. */
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
