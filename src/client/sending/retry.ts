import { untilAborted } from "./deadline.ts";

/** How requests are repeated. */
export interface RetryOptions {
  /**
   * How often a request is repeated at most. 0 repeats none.
   *
   * @default {3}
   */
  readonly times?: number;
  /**
   * The pause before the first repetition, in milliseconds. It doubles with each repetition, and up to as much again is
   * added at random, so that clients do not come back all at once.
   *
   * @default {250}
   */
  readonly pauseMS?: number;
  /**
   * The longest pause, in milliseconds. If the server asks for a longer one by `Retry-After`, the request fails.
   *
   * @default {10000}
   */
  readonly maxPauseMS?: number;
}

/** A request that has failed. */
export interface Failure {
  /** How often the request has been repeated. */
  readonly repeated: number;
  /** The header `Retry-After` of the answer, if there was one. */
  readonly retryAfter: string | null | undefined;
  /** A number from 0 to 1. */
  readonly random: number;
}

/** How long to wait before the next try, in milliseconds; `undefined` if there is none. */
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

/** Reads a number of seconds, or a date. */
function millisecondsOf(retryAfter: string): number {
  const seconds = Number(retryAfter);
  return (Number.isNaN(seconds) ? Date.parse(retryAfter) - Date.now() : seconds * 1000) || 0;
}

/** Waits, unless a signal comes first. */
export async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise((resolve) => timer = setTimeout(resolve, milliseconds));
  try {
    await Promise.race([untilAborted(signal), over]);
  } finally {
    clearTimeout(timer);
  }
}
