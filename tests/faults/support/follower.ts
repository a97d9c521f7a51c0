import { FoldedList, openLive } from "../../features/live/live.ts";
import { pause } from "./others.ts";

/** Reads a list for as long as it is asked to, on one stream after another. */
export class Follower {
  readonly list = new FoldedList();
  /** The identifiers and tenants that came, whatever was done with them. */
  readonly ids = new Set<string>();
  readonly tenants = new Set<string>();
  streams = 0;
  resumed = 0;
  /** Whether it leaves no stream by itself any more. */
  isPatient = false;
  #isStopped = false;
  #lastId = "";
  #stop: () => void = () => {};
  readonly #running: Promise<void>;

  constructor(readonly url: string, readonly headers: Record<string, string>) {
    this.#running = this.#run();
  }

  get isOrdered(): boolean {
    return /sort=/.test(this.url);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stop();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      await this.#readOne().catch(() => {});
      if (!this.#isStopped) await pause(100 + Math.random() * 200);
    }
  }

  async #readOne(): Promise<void> {
    const place = this.#lastId;
    const headers = { ...this.headers, ...place !== "" && { "last-event-id": place } };
    if (place === "") this.list.clear();
    const live = await openLive(this.url, headers, this.list);
    if (live.answer.status !== 200) return await live.answer.body?.cancel();
    this.streams++;
    const drop = setTimeout(() => {
      if (!this.isPatient) void live[Symbol.asyncDispose]();
    }, 2000 + Math.random() * 12_000);
    this.#stop = () => void live[Symbol.asyncDispose]();
    await live.ended();
    clearTimeout(drop);
    this.#lastId = live.lastId;
    if (place !== "" && live.events[0]?.type !== "resync") this.resumed++;
    for (const [, id = ""] of live.wire.matchAll(/"_id":"(\w+)"/g)) this.ids.add(id);
    for (const [, tenant = ""] of live.wire.matchAll(/"tenant":"(\w+)"/g)) this.tenants.add(tenant);
  }
}

/** Whether a follower has what a GET shows. */
export async function hasList({ url, headers, list, isOrdered }: Follower): Promise<boolean> {
  const answer = await fetch(url, { headers });
  const text = await answer.text();
  if (isOrdered || text === list.text) return text === list.text;
  // Without an order, a list is a set: its entities are compared as they are written
  const whole = new FoldedList();
  for (const entity of JSON.parse(text)) {
    whole.fold({ type: "put", data: `{"entity":${JSON.stringify(entity)}}` });
  }
  return whole.texts.sort().join() === list.texts.sort().join();
}
