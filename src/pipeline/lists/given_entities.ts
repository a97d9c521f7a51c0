import { hookFailure } from "../../declare/hooks/hook_failure.ts";
import type { Patience } from "../../database/patience.ts";

/** What gives entities one by one: a cursor of Mongoose or of the driver, or any other. */
interface Given extends AsyncIterable<unknown> {
  close?(): unknown;
}

/**
 * Gives what a `fetch` hook gave: entities, one, or none. What is no entity is left out. What gives them one by one is
 * closed as soon as nobody reads on.
 */
export async function* givenEntities(
  given: unknown,
  patience: Patience,
): AsyncGenerator<readonly object[]> {
  if (Array.isArray(given)) yield given.filter(isEntity);
  else if (!isEntity(given)) return;
  else if (!isIterable(given)) yield [given];
  else yield* oneByOne(given, patience);
}

async function* oneByOne(given: Given, patience: Patience): AsyncGenerator<readonly object[]> {
  const iterator = given[Symbol.asyncIterator]();
  let done = false;
  try {
    while (!done) {
      const next = await patience.waitForNext(nextOf(iterator));
      done = next.done === true;
      if (!done && isEntity(next.value)) yield [next.value];
    }
  } finally {
    if (!done) {
      ignore(() => iterator.return?.());
      close(given);
    }
  }
}

async function nextOf(iterator: AsyncIterator<unknown>): Promise<IteratorResult<unknown>> {
  try {
    return await iterator.next();
  } catch (error) {
    throw hookFailure("fetch", error);
  }
}

/** Closes what a `fetch` hook gave, where it can be closed and nobody is going to read it. */
export function close(given: unknown): void {
  if (!isEntity(given) || !isIterable(given)) return;
  ignore(() => given.close?.());
}

/** Nobody waits for what is closed, and its failure is nobody's. */
function ignore(end: () => unknown): void {
  Promise.resolve().then(end).catch(() => {});
}

function isEntity(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isIterable(value: object): value is Given {
  return Symbol.asyncIterator in value;
}
