export interface Deadline {
  readonly signal: AbortSignal;
  /** Stops the timer, which would run on after an early answer. */
  readonly end: () => void;
}

export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMS: number;
}

/** A timer with a longer delay would fire at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * The caller must call `end()` after the request, or else a timer and a listener remain. A `timeoutMS` that is no
 * positive number throws, because `NaN` would mean no limit.
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
 * The signal for an answer whose body the application reads as a stream. The deadline ends with the headers, but the
 * signal of the caller still aborts the stream, except on runtimes without `AbortSignal.any()`. On Node 22, a signal
 * that many downloads share keeps a few bytes of each in memory.
 */
export function signalOfStream(signal: AbortSignal, given: AbortSignal | undefined): AbortSignal {
  return given && "any" in AbortSignal ? AbortSignal.any([signal, given]) : signal;
}

/** The promise stays pending if the signal was aborted before the call, so callers check the signal first. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
