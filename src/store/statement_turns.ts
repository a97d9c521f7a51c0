import type { Connection } from "mongoose";

const UNLIMITED = 100;

interface Turns {
  readonly waiting: (() => void)[];
  free: number;
}

/** Long statements of one sort use at most half of a connection pool, so that short requests get the rest. */
export class StatementTurns {
  readonly #most: number;
  readonly #all = new WeakMap<object, Turns>();

  constructor(most = Infinity) {
    this.#most = most;
  }

  of(connection: Connection): { run<T>(statement: () => Promise<T>): Promise<T> } {
    const client = connection.getClient();
    const half = Math.floor((client.options.maxPoolSize || UNLIMITED) / 2);
    const turns = this.#all.get(client) ??
      { waiting: [], free: Math.max(1, Math.min(half, this.#most)) };
    this.#all.set(client, turns);
    return { run: (statement) => inTurn(turns, statement) };
  }
}

async function inTurn<T>(turns: Turns, statement: () => Promise<T>): Promise<T> {
  if (turns.free > 0) turns.free--;
  else await new Promise<void>((resolve) => void turns.waiting.push(resolve));
  try {
    return await statement();
  } finally {
    const next = turns.waiting.shift();
    if (next === undefined) turns.free++;
    else next();
  }
}
