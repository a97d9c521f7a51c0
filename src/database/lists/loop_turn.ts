import { setImmediate } from "node:timers";
import { afterEvents } from "./after_events.ts";

/** How many bytes of lists are worked on at a time, and in one turn of the event loop beside short requests. */
export const PORTION = 64 * 1024;

/** How many are worked on in a turn where lists are alone: turns cost something too. */
const ALONE = 4 * PORTION;

/** In one of so many turns of lists that are alone, sockets are looked at, where that costs something. */
const UNSEEN = 4;

/** What is shorter is done at once, as for any short request. */
const SHORT = 32 * 1024;

/** How many bytes have been worked on in this turn. */
let used = 0;

/** How many turns there were for lists that are alone. */
let aloneTurns = 0;

/** How long a short request tells of others: one that has arrived is not known before its socket was looked at. */
const RECENT_MS = 1000;

/** How many short requests are under way. */
let shortRequests = 0;

/** When the last of them has ended. */
let endedAt = -Infinity;

/** What waits for a later turn, in order. */
const waiting: (() => void)[] = [];

/**
 * Waits until this turn of the event loop has room for work on a list. All lists together get a portion per turn, so that
 * short requests are served in between.
 *
 * @returns `undefined` if there is room at once.
 */
export function awaitLoopTurn(bytes: number): Promise<void> | undefined {
  if (bytes < SHORT) return undefined;
  if (waiting.length === 0 && hasRoom()) return use(bytes);
  return new Promise((resolve) => {
    waiting.push(() => {
      use(bytes);
      resolve();
    });
  });
}

/** Runs a short request, for which lists leave more time until it has ended. */
export async function runShort<T>(run: () => Promise<T>): Promise<T> {
  shortRequests++;
  try {
    return await run();
  } finally {
    shortRequests--;
    endedAt = performance.now();
  }
}

function use(bytes: number): undefined {
  if (used === 0) {
    const isSeen = hasOthers() || aloneTurns++ % UNSEEN === 0;
    (isSeen ? afterEvents : setImmediate)(endTurn);
  }
  used += bytes;
}

function hasOthers(): boolean {
  return shortRequests > 0 || performance.now() - endedAt < RECENT_MS;
}

/** A short rest of a portion is no reason to wait: what follows may exceed it. */
function hasRoom(): boolean {
  return used < (hasOthers() ? PORTION : ALONE);
}

function endTurn(): void {
  used = 0;
  while (waiting.length > 0 && hasRoom()) waiting.shift()?.();
}
