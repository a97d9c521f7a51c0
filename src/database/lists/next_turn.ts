import { setImmediate } from "node:timers";

let last: Promise<unknown> = Promise.resolve();

/** Waits for a turn of the event loop of its own: all lists together do one part of their work between other requests. */
export function nextTurn(): Promise<void> {
  const turn = last.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  last = turn;
  return turn;
}
