import { clearTimeout, setTimeout } from "node:timers";

export class TimeLimitError extends Error {
  override readonly name = "TimeLimitError";
}

/**
 * The driver's `timeoutMS` has no effect since version 7.8. Late work goes on unless the signal makes the driver close
 * the connection.
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
