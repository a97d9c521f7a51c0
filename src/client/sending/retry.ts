import { LONGEST_TIMER_MS, untilAborted } from "./deadline.ts";

/** @internal Options of the repetition of requests, after a 503 or after a failure without a complete answer. */
export interface RetryOptions {
  /**
   * The largest number of repetitions of a request. With 0, no request is repeated.
   *
   * @default {3}
   */
  readonly times?: number;
  /**
   * The pause before the first repetition, in milliseconds. The pause doubles with each repetition. A random time of up
   * to the same length is added to each pause, so that many clients do not repeat their requests at the same time.
   *
   * @default {250}
   */
  readonly pauseMS?: number;
  /**
   * The longest pause, in milliseconds. If the header `Retry-After` of an answer names a longer time, the request is
   * not repeated, and the call fails with the answer.
   *
   * @default {10000}
   */
  readonly maxPauseMS?: number;
}

/** A failed attempt of a request, from which {@linkcode pauseAfter} computes the pause before the next attempt. */
export interface Failure {
  /** The number of repetitions of the request so far. The number is 0 if the first attempt has failed. */
  readonly repeated: number;
  /**
   * The header `Retry-After` of the answer, by which the server asks for a longer pause. `null` and `undefined` mean no
   * such header or no answer.
   */
  readonly retryAfter: string | null | undefined;
  /**
   * A random number from 0 to 1, which decides how much time is added to the pause before the next repetition. Clients
   * whose requests fail at the same time therefore repeat them at different times.
   */
  readonly random: number;
}

/**
 * Returns the pause before the next repetition, in milliseconds. Returns `undefined` if the call must fail, because the
 * request has been repeated often enough, or because the server asks for a longer pause than `maxPauseMS`.
 */
export function pauseAfter(
  { repeated, retryAfter, random }: Failure,
  { times = 3, pauseMS = 250, maxPauseMS = 10_000 }: RetryOptions,
): number | undefined {
  if (repeated >= times) return undefined;
  const asked = retryAfter ? millisecondsOf(retryAfter) : 0;
  if (asked > maxPauseMS) return undefined;
  const own = pauseMS * 2 ** repeated;
  return Math.min(Math.max(asked, own) + random * own, maxPauseMS);
}

/**
 * Returns the milliseconds until the time of `Retry-After`, which is a number of seconds or a date. Returns 0 for any
 * other text, so that the usual pause applies.
 */
function millisecondsOf(retryAfter: string): number {
  // Some runtimes read "0" as a date in the past. The time until a past date is negative, so the usual pause applies.
  return Number(retryAfter) * 1000 || Date.parse(retryAfter) - Date.now() || 0;
}

/**
 * Resolves after the given time. Rejects with the reason of the signal if the signal is aborted before, so that an
 * aborted call does not wait.
 */
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
