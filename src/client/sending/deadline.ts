/** A signal that comes when a client stops waiting. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Ends it: neither a timer nor a listener is left. */
  readonly end: () => void;
}

/** Options of {@linkcode openDeadline}. */
export interface DeadlineOptions {
  readonly signal?: AbortSignal | undefined;
  /** How long to wait, in milliseconds. */
  readonly timeoutMS: number;
}

/** The longest time that timers take. They run off at once if it is longer. */
const LONGEST = 2 ** 31 - 1;

/** Joins the signal of a caller and a time-out. */
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

/** Fails with the reason of a signal, once that comes. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
