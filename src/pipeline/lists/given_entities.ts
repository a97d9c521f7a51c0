import type { Connection } from "mongoose";
import type { TimeBudget } from "../../store/time_budget.ts";
import { hookFailure } from "../../declare/hooks/run_hook.ts";
import { connectionOf, isOpen } from "../../schema/mongoose/connections.ts";
import { boundReplies } from "../../schema/mongoose/statements/bound_replies.ts";

interface Cursor extends AsyncIterable<unknown> {
  close?(): unknown;
}

/** Closes a cursor that comes after the time limit, or else it stays open in the database. */
export async function runFetch(fetch: () => unknown, timeBudget: TimeBudget): Promise<unknown> {
  const given = evaluate(fetch);
  try {
    return await timeBudget.wait(given);
  } catch (error) {
    given.then((late) => isCursor(late) && ignore(() => late.close?.()), () => {});
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

export async function* givenEntities(
  given: unknown,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  if (Array.isArray(given)) yield given.filter(isEntity);
  else if (isCursor(given)) yield* oneByOne(given, timeBudget);
  else if (isEntity(given)) yield [given];
}

async function* oneByOne(
  cursor: Cursor,
  timeBudget: TimeBudget,
): AsyncGenerator<readonly object[]> {
  const iterator = cursor[Symbol.asyncIterator]();
  const next = async () => {
    try {
      return await iterator.next();
    } catch (error) {
      throw hookFailure("fetch", error);
    }
  };
  let done: boolean | undefined = false;
  try {
    while (!done) {
      const { value, ...read } = await timeBudget.waitForNext(next());
      done = read.done;
      if (!done && isEntity(value)) yield [value];
    }
  } finally {
    if (!done) {
      ignore(() => iterator.return?.());
      ignore(() => cursor.close?.());
    }
  }
}

function ignore(end: () => unknown): void {
  Promise.resolve().then(end).catch(() => {});
}

function isEntity(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function isCursor(value: unknown): value is Cursor {
  return isEntity(value) && Symbol.asyncIterator in value;
}
