import { untilAborted } from "./deadline.ts";

const PAUSE_MS = 250;

const LONGEST_PAUSE_MS = 10_000;

export interface SendFailure {
  readonly repeated: number;
  readonly retryAfter: string | null | undefined;
  /** A number from 0 to 1, which spreads the repetitions of clients whose requests fail at the same time. */
  readonly random: number;
}

/** Returns milliseconds, or `undefined` if the call must fail. */
export function retryPause(
  { repeated, retryAfter, random }: SendFailure,
  retry = 3,
): number | undefined {
  // Unlike `repeated >= retry`, this also ends with `retry: NaN`.
  if (!(repeated < retry)) return undefined;
  const asked = retryAfter ? millisecondsOf(retryAfter) : 0;
  if (asked > LONGEST_PAUSE_MS) return undefined;
  const own = PAUSE_MS * 2 ** repeated;
  return Math.min(Math.max(asked, own) + random * own, LONGEST_PAUSE_MS);
}

/** `Retry-After` is a number of seconds or a date. For any other text, the usual pause applies. */
function millisecondsOf(retryAfter: string): number {
  // Some runtimes parse "0" as a date in the past. The time is then negative, and the usual pause applies.
  return Number(retryAfter) * 1000 || Date.parse(retryAfter) - Date.now() || 0;
}

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
