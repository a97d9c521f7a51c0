import { clearTimeout, setTimeout } from "node:timers";
import type { Connection } from "mongoose";

/** How many lists go on at a time: while one is written, others wait for the database. */
const AT_ONCE = 3;

/** A read that takes longer than this holds up no other list: the database is slow or far away. */
const PATIENCE_MS = 10;

/** The size of a pool that has no limit. */
const MANY = 100;

/** Lets reads begin, in order, as long as others have room. */
class Gate {
  /** How many may be under way, slow ones included. */
  readonly #most: number;
  /** How many of them may be recent. */
  readonly #atOnce: number;
  #all = 0;
  #recent = 0;
  readonly #waiting = new Set<() => void>();

  constructor(most: number, atOnce = most) {
    this.#most = Math.max(1, Math.floor(most));
    this.#atOnce = Math.max(1, Math.floor(atOnce));
  }

  /** Calls back when there is room, with what ends the read; returns what ends the wait. */
  enter(begin: (leave: () => void) => void): () => void {
    const admit = () => begin(this.#count());
    this.#waiting.add(admit);
    this.#admit();
    return () => void this.#waiting.delete(admit);
  }

  #admit(): void {
    for (const each of this.#waiting) {
      if (this.#all >= this.#most || this.#recent >= this.#atOnce) return;
      this.#waiting.delete(each);
      each();
    }
  }

  /** Counts a read; returns what ends it. */
  #count(): () => void {
    this.#all++;
    this.#recent++;
    let isRecent = true;
    const age = () => {
      if (isRecent) this.#recent--;
      isRecent = false;
      this.#admit();
    };
    // Where all may be recent, age does not matter
    const timer = this.#atOnce < this.#most ? setTimeout(age, PATIENCE_MS).unref() : undefined;
    return () => {
      clearTimeout(timer);
      this.#all--;
      age();
    };
  }
}

/** The gates of one pool of connections. */
interface Gates {
  readonly beginning: Gate;
  readonly going: Gate;
}

const gatesOf = new WeakMap<object, Gates>();

function findGates(connection: Connection): Gates {
  const client = connection.getClient();
  let gates = gatesOf.get(client);
  if (gates === undefined) {
    const size = client.options.maxPoolSize || MANY;
    gates = { beginning: new Gate(size / 2), going: new Gate(size / 4, AT_ONCE) };
    gatesOf.set(client, gates);
  }
  return gates;
}

/**
 * The turns of one list. All lists that begin take at most half of the connections, and those that go on a quarter: the
 * rest is for short requests.
 */
export class ListTurn {
  readonly #connection: Connection;
  #leave: () => void = () => {};

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** Reads the first entities when it is this list's turn, which lasts until {@linkcode ListTurn.pass}. */
  begin<T>(read: () => Promise<T>): Promise<T> {
    return this.#enter("beginning", read);
  }

  /** Reads on, in the same way; few lists do so at a time. */
  goOn<T>(read: () => Promise<T>): Promise<T> {
    return this.#enter("going", read);
  }

  /** Lets other lists read, or gives up. */
  pass(): void {
    this.#leave();
    this.#leave = () => {};
  }

  #enter<T>(gate: keyof Gates, read: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      const { [gate]: entered } = findGates(this.#connection);
      let leave: (() => void) | undefined;
      const stop = entered.enter((end) => {
        leave = end;
        resolve(read());
      });
      this.#leave = () => (leave ?? stop)();
    });
  }
}
