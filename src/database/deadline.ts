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

/** The longest that a timer can run. */
const LONGEST_MS = 2 ** 31 - 1;

/** Watches a deadline until it is lifted. No timer outlives the last one. */
export function setDeadline(deadline: Deadline): void {
  pending.add(deadline);
  if (deadline.at < next) setTimer(deadline.at);
}

/** Lifts a deadline; `false` where it has expired, or was lifted before. */
export function liftDeadline(deadline: Deadline): boolean {
  const lifted = pending.delete(deadline);
  if (pending.size === 0) setTimer(Infinity);
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
  const due: Deadline[] = [];
  let earliest = Infinity;
  for (const each of pending) {
    if (each.at <= now) due.push(each);
    else earliest = Math.min(earliest, each.at);
  }
  for (const each of due) pending.delete(each);
  setTimer(earliest);
  for (const { expire } of due) expire();
}
