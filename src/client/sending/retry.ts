import { LONGEST_TIMER_MS, untilAborted } from "./deadline.ts";

/** @internal Options for repeating requests after a 503, or if no complete answer arrives. */
export interface RetryOptions {
  /**
   * The largest number of repetitions of a request.
   *
   * @default {3}
   */
  readonly times?: number;
  /**
   * The pause before the first repetition, in milliseconds, which doubles with each repetition. A random time of up to
   * the same length is added, so that many clients do not repeat their requests at once.
   *
   * @default {250}
   */
  readonly pauseMS?: number;
  /**
   * The longest pause, in milliseconds. If the header `Retry-After` of an answer names a longer time, the call fails
   * with the answer.
   *
   * @default {10000}
   */
  readonly maxPauseMS?: number;
}

export interface SendFailure {
  /** The number of repetitions so far. */
  readonly repeated: number;
  readonly retryAfter: string | null | undefined;
  /** A number from 0 to 1, which spreads the repetitions of clients whose requests fail at the same time. */
  readonly random: number;
}

/** Returns milliseconds, or `undefined` if the call must fail. */
export function pauseAfter(
  { repeated, retryAfter, random }: SendFailure,
  { times = 3, pauseMS = 250, maxPauseMS = 10_000 }: RetryOptions,
): number | undefined {
  // The comparison is false for `times: NaN` too, with which a 503 would be repeated without an end.
  if (!(repeated < times)) return undefined;
  const asked = retryAfter ? millisecondsOf(retryAfter) : 0;
  if (asked > maxPauseMS) return undefined;
  const own = pauseMS * 2 ** repeated;
  return Math.min(Math.max(asked, own) + random * own, maxPauseMS);
}

/** `Retry-After` is a number of seconds or a date. For any other text, the usual pause applies. */
function millisecondsOf(retryAfter: string): number {
  // Some runtimes read "0" as a date in the past, whose negative time means the usual pause.
  return Number(retryAfter) * 1000 || Date.parse(retryAfter) - Date.now() || 0;
}

export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const bounded = Math.min(milliseconds, LONGEST_TIMER_MS);
  const over = new Promise((resolve) => timer = setTimeout(resolve, bounded));
  try {
    await Promise.race([untilAborted(signal), over]);
  } finally {
    clearTimeout(timer);
  }
}
