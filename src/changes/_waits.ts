export const PAUSE_MS = 500;

export const MAX_PAUSE_MS = 10_000;

/** Rejects when the signal is aborted. Work that ignores the signal continues in the background. */
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

export function pauseAfter(failures: number): number {
  return Math.min(MAX_PAUSE_MS, PAUSE_MS * 2 ** failures);
}
