import { setTimeout } from "node:timers/promises";

export const PAUSE_MS = 500;

export const MAX_PAUSE_MS = 10_000;

/** Work that ignores the signal continues in the background. */
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

export async function pause(ms: number, signal: AbortSignal, { ref = true } = {}): Promise<void> {
  await setTimeout(ms, undefined, { signal, ref }).catch(() => {});
}

export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** failures);
}
