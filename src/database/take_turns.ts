import type { TimeBudget } from "./time_budget.ts";
import { unavailable } from "../errors/refusals.ts";

/** The ends of the last turns, by name, for each owner. */
const queues = new WeakMap<object, Map<string, Promise<void>>>();

interface Turn {
  /** An object, such as a client, to which names belong. */
  readonly owner: object;
  readonly name: string;
  readonly timeBudget: TimeBudget;
}

/** Runs work after all earlier work of the same name, but never once its time is up: that is a 503. */
export async function takeTurns<T>(
  { owner, name, timeBudget }: Turn,
  work: () => Promise<T>,
): Promise<T> {
  let queue = queues.get(owner);
  if (queue === undefined) queues.set(owner, queue = new Map());
  const before = queue.get(name);
  const run = async () => {
    await before;
    if (timeBudget.expired) throw unavailable();
    return await timeBudget.wait(work());
  };
  const result = run();
  const done = result.then(() => {}, () => {});
  queue.set(name, done);
  done.then(() => {
    if (queue.get(name) === done) queue.delete(name);
  });
  return await timeBudget.wait(result);
}
