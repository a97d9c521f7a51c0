import type { Patience } from "./patience.ts";
import { unavailable } from "../errors/refusals.ts";

/** The last of those who wait for a turn, by what they wait for. */
type Queue = Map<string, Promise<void>>;

const queues = new WeakMap<object, Queue>();

/** What a turn is about. */
export interface Turn {
  /** Where names are told apart: a client, say. */
  readonly owner: object;
  /** What one at a time may work on. */
  readonly name: string;
  /** Bounds the wait for the turn, and the turn. */
  readonly patience: Patience;
}

/**
 * Runs work when all work of the same name that came before is done or given up. Work whose time is over before its turn
 * never begins.
 *
 * @throws {RestError} 503 if the time is over first.
 */
export async function takeTurns<T>(
  { owner, name, patience }: Turn,
  work: () => Promise<T>,
): Promise<T> {
  let queue = queues.get(owner);
  if (queue === undefined) queues.set(owner, queue = new Map());
  const before = queue.get(name);
  const run = async () => {
    await before;
    if (patience.expired) throw unavailable();
    return await patience.wait(work());
  };
  const result = run();
  const done = result.then(() => {}, () => {});
  queue.set(name, done);
  done.then(() => {
    if (queue.get(name) === done) queue.delete(name);
  });
  return await patience.wait(result);
}
