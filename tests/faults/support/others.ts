import { assertEquals } from "@std/assert";
import type { Client } from "../../support/client.ts";

/** How many clients send requests. */
const CLIENTS = 4;

/** Each of them sends a request in this time, if it does not wait for an answer. */
const EVERY_MS = 20;

/** How long answers took, in milliseconds. */
interface Times {
  readonly p50: number;
  readonly p99: number;
  readonly worst: number;
}

/** Two moments. */
type Span = readonly [from: number, to: number];

/** When a harm was measured. */
export interface Harmed {
  /** Since when there were others. */
  readonly from: number;
  readonly begun: number;
  readonly over: number;
  /** When the test itself has held them up. */
  readonly except?: Span;
}

interface Sample {
  readonly due: number;
  readonly ms: number;
}

/**
 * Clients that send one request after the other, at a steady rate. Those that would have been sent while an answer is late
 * count as answered with it: else a long wait would be one of many requests.
 */
export class Others {
  readonly #samples: Sample[] = [];
  readonly #sending: Promise<unknown>;
  #isOver = false;

  constructor(send: () => Promise<void>) {
    const begun = performance.now();
    const dues = Array.from({ length: CLIENTS }, (_, at) => begun + at * EVERY_MS / CLIENTS);
    this.#sending = Promise.all(dues.map((due) => this.#send(send, due)));
    // Told by `end()`
    this.#sending.catch(() => {});
  }

  /** Ends the requests; throws if one of them has failed. */
  async end(): Promise<void> {
    this.#isOver = true;
    await this.#sending;
  }

  /** Tells how long answers took before a harm, during it, and in its first second. */
  tell({ from, begun, over, except }: Harmed): string {
    const [before, during] = [this.#between(from, begun), this.#between(begun, over, except)];
    const { p99 } = this.#between(begun, begun + 1000);
    const span = ((over - begun) / 1000).toFixed(1);
    return `p50, p99 and worst of others ${showTimes(before)} ms, ` +
      `then ${showTimes(during)} ms in ${span} s, p99 in the first second ${p99.toFixed(0)} ms`;
  }

  /** The times of the requests that were due between two moments, but for a span. */
  #between(from: number, to: number, except: Span = [to, to]): Times {
    const isIn = (due: number, start: number, end: number) => due >= start && due < end;
    const some = this.#samples.filter(({ due }) => isIn(due, from, to) && !isIn(due, ...except));
    const sorted = some.map(({ ms }) => ms).sort((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor(sorted.length * share)] ?? 0;
    return { p50: at(0.5), p99: at(0.99), worst: sorted.at(-1) ?? 0 };
  }

  async #send(send: () => Promise<void>, first: number): Promise<void> {
    for (let due = first; !this.#isOver;) {
      await pause(Math.max(0, due - performance.now()));
      await send();
      const now = performance.now();
      for (; due < now; due += EVERY_MS) this.#samples.push({ due, ms: now - due });
    }
  }
}

/** Waits for a time. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Opens clients that store visits. */
export function openOthers({ post }: Pick<Client, "post">): Others {
  return new Others(async () => {
    const { status } = await post("/visits", { key: crypto.randomUUID(), text: "a" });
    assertEquals(status, 201);
  });
}

/** Writes the median, the 99th of 100 and the worst. */
function showTimes({ p50, p99, worst }: Times): string {
  return [p50, p99, worst].map((ms) => ms.toFixed(ms < 10 ? 1 : 0)).join(", ");
}
