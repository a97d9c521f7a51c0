import type { Connection } from "mongoose";
import type { TimeBudget } from "../../database/time_budget.ts";
import { hookFailure } from "../../declare/hooks/run_hook.ts";
import { connectionOf, isOpen } from "../../schema/mongoose/connections.ts";
import { boundReplies } from "../../schema/mongoose/statements/bound_replies.ts";

interface Cursor extends AsyncIterable<unknown> {
  close?(): unknown;
}

/** Runs a `fetch` hook, and the query that it may give; a cursor that comes too late is closed. */
export async function runFetch(fetch: () => unknown, timeBudget: TimeBudget): Promise<unknown> {
  const given = evaluate(fetch);
  try {
    return await timeBudget.wait(given);
  } catch (error) {
    given.then(close, () => {});
    throw error;
  }
}

async function evaluate(fetch: () => unknown): Promise<unknown> {
  let connection: Connection | undefined;
  try {
    const given = fetch();
    connection = connectionOf(given);
    boundReplies(given);
    const found = await given;
    boundReplies(found);
    return found;
  } catch (error) {
    const away = connection !== undefined && !isOpen(connection);
    throw hookFailure("fetch", error, { away });
  }
}

/** The entities that a `fetch` hook returned: several, one, or none. A cursor is closed when reading stops. */
export async function* givenEntities(
  given: unknown,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  if (Array.isArray(given)) yield given.filter(isEntity);
  else if (!isEntity(given)) return;
  else if (!isCursor(given)) yield [given];
  else yield* oneByOne(given, timeBudget);
}

async function* oneByOne(
  cursor: Cursor,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  const iterator = cursor[Symbol.asyncIterator]();
  let done = false;
  try {
    while (!done) {
      const next = await timeBudget.waitForNext(nextOf(iterator));
      done = next.done === true;
      if (!done && isEntity(next.value)) yield [next.value];
    }
  } finally {
    if (!done) {
      ignore(() => iterator.return?.());
      close(cursor);
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

function close(given: unknown): void {
  if (isEntity(given) && isCursor(given)) ignore(() => given.close?.());
}

function ignore(end: () => unknown): void {
  Promise.resolve().then(end).catch(() => {});
}

function isEntity(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isCursor(value: object): value is Cursor {
  return Symbol.asyncIterator in value;
}
