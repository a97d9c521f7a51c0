import process from "node:process";

const LONGEST_MS = 2 ** 31 - 1;

const IDLE_MS = 10;

/** How much later a timer may come, and how much of the processor may be used, in an idle process. */
const SLACK_MS = 4;

/** How long an expiry may wait for this process to be idle. */
const MOST_GRACE_MS = 3000;

/**
 * Calls back when a time is up and this process is idle, or has been busy for too long: the answer that is waited for
 * may have come, and the time that this process takes to read it is not the database's.
 *
 * @returns Lifts the deadline; `false` where it has expired, or was lifted before.
 */
export function setDeadline(milliseconds: number, expire: () => void): () => boolean {
  const at = performance.now() + milliseconds;
  let isSet = true;
  const lift = () => {
    const wasSet = isSet;
    isSet = false;
    clearTimeout(timer);
    return wasSet;
  };
  const timer = setTimeout(async () => {
    while (await isBusy() && isSet && performance.now() - at < MOST_GRACE_MS);
    if (lift()) expire();
  }, Math.min(milliseconds, LONGEST_MS));
  return lift;
}

/** One look serves all that is due: a thousand of them would themselves keep this process busy. */
let looking: Promise<boolean> | undefined;

function isBusy(): Promise<boolean> {
  return looking ??= new Promise((resolve) => {
    const begun = performance.now();
    const used = process.cpuUsage();
    setTimeout(() => {
      looking = undefined;
      const { user, system } = process.cpuUsage(used);
      const late = performance.now() - begun - IDLE_MS;
      resolve(Math.max(late, (user + system) / 1000) > SLACK_MS);
    }, IDLE_MS);
  });
}
