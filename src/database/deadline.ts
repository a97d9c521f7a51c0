import process from "node:process";

/** Something that has to end by a time. */
export interface Deadline {
  /** When, on the clock of `performance`. */
  readonly at: number;
  /** What happens then. */
  readonly expire: () => void;
}

/** What waits; one timer serves all of it, set to the earliest that it had to know of. */
const pending = new Set<Deadline>();
let timer: ReturnType<typeof setTimeout> | undefined;
let next = Infinity;

/** What is due, and expires as soon as this process has read all that has come. */
const due = new Set<Deadline>();
let looking: ReturnType<typeof setTimeout> | undefined;

/** The longest that a timer can run. */
const LONGEST_MS = 2 ** 31 - 1;

/** How long this process has to be idle before something expires. */
const IDLE_MS = 10;

/** How much later than that a timer may come, and how much of the processor may be used, in an idle process. */
const SLACK_MS = 4;

/** How long something that is due may wait for this process to be idle. */
const MOST_GRACE_MS = 3000;

/** Watches a deadline until it is lifted. No timer outlives the last one. */
export function setDeadline(deadline: Deadline): void {
  pending.add(deadline);
  if (deadline.at < next) setTimer(deadline.at);
}

/** Lifts a deadline; `false` where it has expired, or was lifted before. */
export function liftDeadline(deadline: Deadline): boolean {
  const lifted = pending.delete(deadline) || due.delete(deadline);
  if (pending.size === 0) setTimer(Infinity);
  if (due.size === 0) {
    clearTimeout(looking);
    looking = undefined;
  }
  return lifted;
}

function setTimer(at: number): void {
  clearTimeout(timer);
  next = at;
  if (at === Infinity) return;
  timer = setTimeout(expireDue, Math.min(Math.max(0, at - performance.now()), LONGEST_MS));
}

/** A timer may come up to a millisecond early. */
function expireDue(): void {
  const now = performance.now() + 1;
  let earliest = Infinity;
  for (const each of pending) {
    if (each.at <= now) due.add(each);
    else earliest = Math.min(earliest, each.at);
  }
  for (const each of due) pending.delete(each);
  setTimer(earliest);
  if (due.size > 0 && looking === undefined) look();
}

/**
 * Expires what is due when this process is idle, or has been busy for too long: the answer that something waits for may
 * have come, and the time that this process takes to read it is not the database's.
 */
function look(): void {
  const begun = performance.now();
  const used = process.cpuUsage();
  looking = setTimeout(() => {
    const now = performance.now();
    const { user, system } = process.cpuUsage(used);
    const busy = now - begun - IDLE_MS > SLACK_MS || (user + system) / 1000 > SLACK_MS;
    looking = undefined;
    for (const each of [...due]) {
      if (busy && now - each.at < MOST_GRACE_MS) continue;
      due.delete(each);
      each.expire();
    }
    if (due.size > 0 && looking === undefined) look();
  }, IDLE_MS);
}
