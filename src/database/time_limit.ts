import { clearTimeout, setTimeout } from "node:timers";

/** The error of a statement that the database has not answered in time. */
export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * Waits for the database, for a time at most: the driver's `timeoutMS` does nothing since version 7.8. The driver closes
 * the connection of a statement that gets the signal and is late, so that it does not wait for an answer.
 *
 * @throws {TimeLimitError} If the time is up.
 */
export async function withTimeLimit<T>(
  work: (signal: AbortSignal) => PromiseLike<T>,
  { ms, message }: { readonly ms: number; readonly message: string },
): Promise<T> {
  const controller = new AbortController();
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new TimeLimitError(`${message}: the database has not answered in ${ms} ms`);
      reject(error);
      controller.abort(error);
    }, ms);
  });
  try {
    return await Promise.race([late, work(controller.signal)]);
  } finally {
    clearTimeout(timer);
  }
}
