import { setTimeout } from "node:timers/promises";

export const PAUSE_MS = 500;

export const MAX_PAUSE_MS = 10_000;

/**
 * Waits until work ends. Throws the reason of the signal if the signal is aborted before the work ends. Work that
 * ignores the signal continues in the background.
 */
export async function unlessAborted<T>(signal: AbortSignal, work: PromiseLike<T>): Promise<T> {
  let onAbort: () => void = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/** Waits for a number of milliseconds, or until the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal, { ref = true } = {}): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref }).catch(() => {});
}

/**
 * Returns the pause after a failure of the database or of `onLost`, in milliseconds. Each further failure doubles the
 * pause, which is at most 10 seconds.
 */
export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** failures);
}
