import { sharedReplicaSet } from "../../support/shared_replica_set.ts";
import { mount, type MountOptions } from "../../support/support.ts";
import type { ModelClass } from "../../../mod.ts";
import { until } from "../../support/until.ts";

/** An event of a live list, as it came. */
export interface LiveEvent {
  readonly type: string;
  readonly data: string;
  /** The text of its field `id`, if it has one. */
  readonly id?: string;
}

/** An entity, as a test knows it. */
export type Item = Readonly<Record<string, unknown> & { _id: string }>;

interface LiveOptions extends MountOptions {
  /** Options of the connection. */
  readonly connection?: string;
}

/** Serves models over a replica set of one member. */
export async function mountLive(
  models: readonly ModelClass[],
  { connection = "", ...options }: LiveOptions = {},
) {
  const mongo = await sharedReplicaSet();
  const uri = `${mongo}${mongo.includes("?") ? "&" : "?"}${connection}`;
  return await mount(models, { mongo: uri, ...options });
}

/** Opens a live list, which may continue what was folded before. */
export async function openLive(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  list?: FoldedList,
): Promise<Live> {
  const controller = new AbortController();
  const { signal } = controller;
  const accept = "text/event-stream";
  return new Live(await fetch(url, { headers: { accept, ...headers }, signal }), controller, list);
}

/** A list as a client makes it of events. */
export class FoldedList {
  readonly #order: string[] = [];
  readonly #texts = new Map<string, string>();

  /** The list as JSON text. */
  get text(): string {
    return `[${this.texts.join()}]`;
  }

  get texts(): string[] {
    return this.#order.map((id) => this.#texts.get(id) ?? "");
  }

  clear(): void {
    this.#order.length = 0;
    this.#texts.clear();
  }

  fold({ type, data }: LiveEvent): void {
    if (type === "resync") this.clear();
    if (type !== "put" && type !== "drop") return;
    const { entity, after, _id = entity?._id } = JSON.parse(data);
    const at = this.#order.indexOf(_id);
    if (type === "drop") this.#texts.delete(_id);
    else this.#texts.set(_id, textIn(data));
    if (at >= 0 && type === "put" && after === undefined) return;
    if (at >= 0) this.#order.splice(at, 1);
    if (type === "drop") return;
    const place = after === undefined ? this.#order.length : this.#order.indexOf(after) + 1;
    this.#order.splice(place, 0, _id);
  }
}

/** A list that a test reads live, and folds as a client does. */
export class Live implements AsyncDisposable {
  readonly events: LiveEvent[] = [];
  /** All that came. */
  wire = "";
  /** What a client sends to continue. */
  lastId = "";
  hasEnded = false;
  readonly #controller: AbortController;
  readonly #reading: Promise<void>;
  readonly #list: FoldedList;

  constructor(readonly answer: Response, controller: AbortController, list = new FoldedList()) {
    this.#controller = controller;
    this.#list = list;
    this.#reading = this.#read();
  }

  /** The list as JSON text. */
  get text(): string {
    return this.#list.text;
  }

  get items(): Item[] {
    return JSON.parse(this.text);
  }

  /** The types of the events since the last call. */
  taken(): string {
    return this.events.splice(0).map(({ type }) => type).join(" ");
  }

  /** Waits for so many events. */
  async came(count: number): Promise<void> {
    await until(() => this.events.length >= count, { seconds: 20 });
  }

  async ready(): Promise<void> {
    await until(() => this.events.some(({ type }) => type === "ready"), { seconds: 20 });
  }

  /** Resolves when the stream has ended. */
  async ended(): Promise<void> {
    await this.#reading;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controller.abort();
    await this.#reading;
  }

  async #read(): Promise<void> {
    const { body, headers } = this.answer;
    if (!headers.get("content-type")?.startsWith("text/event-stream") || body === null) return;
    let rest = "";
    try {
      for await (const text of body.pipeThrough(new TextDecoderStream())) {
        this.wire += text;
        const blocks = `${rest}${text}`.split("\n\n");
        rest = blocks.pop() ?? "";
        for (const block of blocks) this.#take(block);
      }
    } catch {
      // It was cut.
    }
    this.hasEnded = true;
  }

  #take(block: string): void {
    const fields: Record<string, string> = {};
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([^:]*)(?:: ?(.*))?$/.exec(line) ?? [];
      fields[name] = value;
    }
    const { id, data, event: type = "message" } = fields;
    if (id !== undefined) this.lastId = id;
    if (data === undefined) return;
    const event = { type, data, ...id !== undefined && { id } };
    this.events.push(event);
    this.#list.fold(event);
  }
}

/** The text of the entity in a `put`, as it came. */
function textIn(data: string): string {
  const put = /^\{"entity":(.*?)(?:,"after":(?:null|"[^"]*"|-?[\d.]+))?\}$/s;
  return put.exec(data)?.[1] ?? "";
}
