import type { Connection, mongo } from "mongoose";
import { feedCount } from "../store/change_feed.ts";
import { logHint } from "../errors/log.ts";

const pools = new WeakMap<mongo.MongoClient, ReadTurns>();

/**
 * Each wait of a follower occupies a connection for a second. Followers and live lists together use at most half of the
 * pool, so that requests have the rest.
 */
export class ReadTurns {
  readonly #client: mongo.MongoClient;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;
  #hasHinted = false;

  private constructor(client: mongo.MongoClient) {
    this.#client = client;
  }

  static of(connection: Connection): ReadTurns {
    const client = connection.getClient();
    const turns = pools.get(client) ?? new ReadTurns(client);
    pools.set(client, turns);
    return turns;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#taken < this.#limit()) this.#taken++;
    else {
      this.#hint();
      await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#taken--;
      else next();
    }
  }

  #limit(): number {
    const { maxPoolSize = 100 } = this.#client.options;
    if (maxPoolSize === 0) return Infinity;
    return Math.max(1, Math.floor(maxPoolSize / 2) - feedCount(this.#client));
  }

  #hint(): void {
    if (this.#hasHinted) return;
    this.#hasHinted = true;
    logHint(
      `Followers take turns: only ${this.#limit()} wait for changes at a time, as each keeps a connection, and the rest ` +
        `of a maxPoolSize of ${this.#client.options.maxPoolSize} is for requests; set a larger one`,
    );
  }
}
