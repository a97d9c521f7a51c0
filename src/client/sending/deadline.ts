/** A signal that is aborted when the time limit of a call is over, or when its caller aborts the call. */
export interface Deadline {
  readonly signal: AbortSignal;
  /**
   * Removes the timer and the listener. Without this call, the timer would run until the time limit after an early
   * answer.
   */
  readonly end: () => void;
}

export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * The time in milliseconds after which the signal of a call is aborted, so that the call fails with a `TimeoutError`.
   * `Infinity` means no limit.
   */
  readonly timeoutMS: number;
}

/**
 * The longest delay of `setTimeout()` in milliseconds. Longer time limits and pauses are shortened to it, because their
 * timers would end at once.
 */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Returns a signal that is aborted by the signal of the caller or after a time limit. The caller must call `end()`
 * after the request. Throws for a limit that is no positive number, because `NaN` would mean no limit.
 */
export function openDeadline({ signal, timeoutMS }: DeadlineOptions): Deadline {
  if (!(timeoutMS > 0)) throw new RangeError(`timeoutMS is ${timeoutMS}`);
  const controller = new AbortController();
  const stop = () => controller.abort(signal?.reason);
  const expire = () =>
    controller.abort(new DOMException(`No answer within ${timeoutMS} ms`, "TimeoutError"));
  const timer = Number.isFinite(timeoutMS)
    ? setTimeout(expire, Math.min(timeoutMS, LONGEST_TIMER_MS))
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
 * Returns the signal of a request whose answer keeps its stream, such as the download of a file. The time limit ends
 * with the headers of the answer, but the signal of the caller also ends the stream. A signal that many downloads share
 * keeps nothing of a finished download, except a few bytes on Node 22. A runtime without `AbortSignal.any()`
 * reads the stream to its end.
 */
export function signalOfStream(signal: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given && "any" in AbortSignal ? AbortSignal.any([signal, given]) : signal;
}

/**
 * Returns a promise that rejects with the reason of a signal when the signal is aborted, so that a call can end before
 * its request. The promise stays pending if the signal was aborted before the call, so callers check the signal first.
 */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
