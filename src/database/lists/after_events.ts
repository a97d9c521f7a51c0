import { setImmediate } from "node:timers";
import { IS_DENO } from "./runtime.ts";

const NOTHING = new Uint8Array();

/**
 * Calls back in a later turn of the event loop, after what has arrived for sockets.
 *
 * Deno looks at sockets only when nothing else is due, or every 61 turns: with one `setImmediate` after the other, requests
 * would wait for dozens of turns. It has nothing to do while another thread works, which takes less than any timer.
 */
export function afterEvents(callback: () => void): void {
  // The work of this turn ends first: else the wait would be over before
  setImmediate(() => {
    if (IS_DENO) void crypto.subtle.digest("SHA-1", NOTHING).then(callback);
    else callback();
  });
}
