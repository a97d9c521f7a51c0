import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import mongoose from "mongoose";

/** What is going to be done, and for how many. */
interface Due<T> {
  askers: number;
  readonly done: Promise<T>;
}

/** Does work once for all requests of one turn of the event loop that ask for the same. */
export class SameTurn<T> {
  readonly #due = new Map<string, Due<T>>();
  #running = 0;
  /** Whether the last work was for one request. */
  #wasAlone = true;

  /**
   * Does the work at once where only one request is served at a time; else at the end of the turn. The caller bounds the
   * wait: others may wait as well.
   *
   * @param name Gives what tells the work from all other; `undefined` if it is for this request alone.
   */
  run(name: () => string | undefined, work: () => Promise<T>): Promise<T> {
    if (this.#running === 0 && this.#wasAlone) return this.#do(work);
    const asked = name();
    if (asked === undefined) return this.#do(work);
    const due = this.#due.get(asked) ?? this.#open(asked, work);
    due.askers++;
    return due.done;
  }

  #open(name: string, work: () => Promise<T>): Due<T> {
    const end = new Promise<void>((resolve) => setImmediate(resolve));
    const due: Due<T> = {
      askers: 0,
      done: end.then(() => {
        this.#due.delete(name);
        return this.#do(work, due.askers);
      }),
    };
    this.#due.set(name, due);
    return due;
  }

  async #do(work: () => Promise<T>, askers = 1): Promise<T> {
    this.#wasAlone = askers === 1;
    this.#running++;
    try {
      return await work();
    } finally {
      this.#running--;
    }
  }
}

/** A query as the database would get it; the order of keys counts in what it compares and sorts by. */
export function bytesOf(query: object): string {
  const bytes = mongoose.mongo.BSON.serialize(query, { serializeFunctions: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}
