import type { Reply, RequestOptions } from "../../harness/request.ts";
import type { Client, EntityBody } from "../../support/client.ts";

/** The text that is stored of a key; `null` if there is none. */
export type Stored = string | null;

/** A write, and what it makes of the keys that it is about. */
export interface Write {
  readonly method: "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly body?: object;
  readonly keys: readonly string[];
  readonly from: Stored;
  readonly to: Stored;
}

/** A request that was answered. */
interface Entry {
  readonly request: string;
  readonly status: number;
  readonly begun: number;
  readonly ended: number;
}

/** What clients were told: every request, and what may be stored of every key. */
export class Journal {
  readonly entries: Entry[] = [];
  /** What may be stored of each key. */
  readonly possible = new Map<string, ReadonlySet<Stored>>();
  /** Keys of which all or none are stored. */
  readonly together: (readonly string[])[] = [];
  readonly #api: Client;

  constructor(api: Client) {
    this.#api = api;
  }

  /** Sends a write; gives the answer if it is a success. */
  async write(write: Write): Promise<Reply<EntityBody> | undefined> {
    const { method, path, body, keys, from, to } = write;
    for (const key of keys) this.possible.set(key, new Set([from, to]));
    const reply = await this.send(method, path, body && { body });
    if (!reply || !isSuccess(reply.status)) return undefined;
    for (const key of keys) this.possible.set(key, new Set([to]));
    return reply;
  }

  /** Sends a request, and enters its answer; a request without one has the status 0. */
  async send(method: string, path: string, options: RequestOptions = {}) {
    const begun = performance.now();
    const reply = await this.#api.send<EntityBody>(method, path, options).catch(() => undefined);
    const request = `${method} ${path.replace(/[0-9a-f]{24}/g, ":id").replace(/\?.*/, "?q")}`;
    this.entries.push({ request, status: reply?.status ?? 0, begun, ended: performance.now() });
    return reply;
  }

  /** How many requests have succeeded that were sent after a moment. */
  successesSince(moment: number): number {
    return this.entries.filter(({ status, begun }) => begun > moment && isSuccess(status)).length;
  }

  /** The answers that are neither a success nor one of those that are expected, each once. */
  unexpected(expected: readonly number[]): string[] {
    const found = this.entries.filter(({ status }) =>
      !isSuccess(status) && !expected.includes(status)
    );
    return [...new Set(found.map(({ request, status }) => `${request}: ${status}`))];
  }

  /** The longest time that a request took, in seconds. */
  get slowest(): number {
    return Math.max(...this.entries.map(({ begun, ended }) => ended - begun)) / 1000;
  }

  /** Tells how many answers there were, and the longest time without a success. */
  report(): string {
    const successes = this.entries.filter(({ status }) => isSuccess(status));
    const counts = Object.entries(Object.groupBy(this.entries, ({ status }) => status))
      .filter(([status]) => !isSuccess(Number(status)))
      .map(([status, entries = []]) => `${entries.length} × ${status}`);
    const ends = successes.map(({ ended }) => ended);
    const gaps = ends.slice(1).map((end, index) => end - (ends[index] ?? end));
    return [
      `${this.entries.length} requests`,
      `${successes.length} acknowledged`,
      ...counts,
      `no success for ${(Math.max(...gaps) / 1000).toFixed(1)} s`,
      `slowest answer ${this.slowest.toFixed(1)} s`,
    ].join(", ");
  }
}

/** Whether a status is a success. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}
