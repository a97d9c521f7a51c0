import { TurnPacer } from "./event_loop.ts";

/** The keys of `errors` are indexes of the written list. */
export class BulkError extends Error {
  constructor(readonly errors: ReadonlyMap<number, unknown>) {
    const [first] = errors.values();
    super(`${errors.size} of many entities cannot be written`, { cause: first });
  }
}

export function throwOnly(error: unknown): never {
  throw error instanceof BulkError ? error.cause : error;
}

/** An error does not stop the loop, so that all errors are reported. */
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
