/** A signal that aborts a call when its time is over or its caller aborts it. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Removes the timer and the listener. */
  readonly end: () => void;
}

/** Options of {@linkcode openDeadline}. */
export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** The time limit in milliseconds. `Infinity` means no limit. */
  readonly timeoutMS: number;
}

/** The longest delay of `setTimeout()`. A longer delay would end at once. */
const LONGEST = 2 ** 31 - 1;

/** Returns a signal that is aborted by the signal of the caller or after a time limit. */
export function openDeadline({ signal, timeoutMS }: DeadlineOptions): Deadline {
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  const expire = () =>
    controller.abort(new DOMException(`No answer within ${timeoutMS} ms`, "TimeoutError"));
  const timer = Number.isFinite(timeoutMS)
    ? setTimeout(expire, Math.min(timeoutMS, LONGEST))
    : undefined;
  if (signal?.aborted) stop();
  else signal?.addEventListener("abort", stop);
  return {
    signal: controller.signal,
    end: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
    },
  };
}

/**
 * Returns a promise that rejects with the reason of a signal when the signal is aborted. The promise stays pending if
 * the signal was aborted before the call.
 */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
