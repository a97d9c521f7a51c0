import type { Connection } from "mongoose";

/** The size of a pool that has no limit. */
const MANY = 100;

/** The reads of all lists from one pool of connections: they take at most half of it, the rest is for short requests. */
export class ListReads {
  static readonly #all = new WeakMap<object, ListReads>();
  readonly #waiting: (() => void)[] = [];
  #free: number;

  private constructor(free: number) {
    this.#free = free;
  }

  static of(connection: Connection): ListReads {
    const client = connection.getClient();
    const most = Math.max(1, Math.floor((client.options.maxPoolSize || MANY) / 2));
    const reads = this.#all.get(client) ?? new ListReads(most);
    this.#all.set(client, reads);
    return reads;
  }

  /** Reads when there is room, in order. */
  async run<T>(read: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    try {
      return await read();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
