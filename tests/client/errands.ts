import type { Schema } from "mongoose";
import { createCollection } from "@tanstack/db";
import {
  connect,
  type ConnectOptions,
  type FetchFunction,
  type Resource,
} from "@mongrove/mongrove/client";
import { type CollectionOptions, collectionOptions } from "@mongrove/mongrove/tanstack";
import { all, create, FrameworkModel, one, prop, remove, rest, update } from "../../mod.ts";
import type { Defaulted } from "../../mod.ts";
import { mountLive } from "../features/live/live.ts";
import { until } from "../support/until.ts";

class Spot extends FrameworkModel {
  static override schemaOptions = { _id: false };
  declare readonly _id: never;
  @prop()
  city?: string;
  @prop()
  street?: string;
}

const WRITES = [create({ idempotency: { keep: "1h", caller: () => "" } }), update(), remove()];

/** A class whose list is live. */
@rest({ route: "/errands", methods: [all({ live: true, page: false }), one(), ...WRITES] })
@rest({ route: "/paged", methods: [all({ page: { size: 2, max: 50 } }), ...WRITES] })
export class Errand extends FrameworkModel {
  @prop({ required: true, maxLength: 20 })
  text!: string;
  @prop({ default: false })
  done!: Defaulted<boolean>;
  @prop()
  note?: string | null;
  @prop({ type: Spot })
  spot?: Spot | null;
}

/** A class whose `_id` clients choose. */
@rest({
  route: "/chosen",
  methods: [all({ live: true, page: false }), create(), update(), remove()],
})
export class ChosenErrand extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  static override configure(schema: Schema): void {
    schema.add({ _id: String });
  }
}

@rest({
  route: "/numbered",
  methods: [all({ live: true, page: false }), create(), update(), remove()],
})
export class NumberedErrand extends FrameworkModel {
  @prop({ required: true })
  text!: string;
  static override configure(schema: Schema): void {
    schema.add({ _id: Number });
  }
}

/** A request that was sent. */
export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A connection whose requests are noted, and that a test can cut. */
export class Line {
  readonly sent: SentRequest[] = [];
  /** The number of live lists whose reader has gone. */
  ended = 0;
  #open = new AbortController();
  /** Called with each request; may wait, or replace the answer. */
  before: (request: SentRequest) => unknown = () => {};
  after: (request: SentRequest, answer: Response) => unknown = () => {};

  get writes(): SentRequest[] {
    return this.sent.filter(({ method }) => method !== "GET");
  }

  cut(): void {
    this.#open.abort(new TypeError("The line is cut"));
  }

  mend(): void {
    this.#open = new AbortController();
  }

  readonly fetch: FetchFunction = async (url, init) => {
    const { signal } = this.#open;
    signal.throwIfAborted();
    const { method = "GET", headers, body } = init;
    const request = {
      method,
      path: new URL(url).pathname,
      headers: new Headers(headers),
      body: typeof body === "string" ? JSON.parse(body) : undefined,
    };
    this.sent.push(request);
    await this.before(request);
    const both = init.signal ? AbortSignal.any([init.signal, signal]) : signal;
    const answer = await fetch(url, { ...init, signal: both });
    await this.after(request, answer);
    if (!answer.headers.get("content-type")?.startsWith("text/event-stream")) return answer;
    const stream = answer.body?.pipeThrough(
      new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
        cancel: () => void this.ended++,
      }),
    );
    return new Response(stream, answer);
  };
}

/** Opens a collection on a line of its own. */
function openErrands<M extends Errand | ChosenErrand>(
  resource: Resource<M>,
  options: CollectionOptions<M>,
) {
  const collection = createCollection(collectionOptions(resource, options));
  return { collection, [Symbol.asyncDispose]: () => collection.cleanup() };
}

export type Errands = ReturnType<typeof openErrands<Errand>>["collection"];

/** Serves errands over a replica set. */
export async function serveErrands() {
  const app = await mountLive([Errand, ChosenErrand, NumberedErrand]);
  const reach = (line: Line, options: ConnectOptions = {}) =>
    connect(app.url, { fetch: line.fetch, ...options });
  return {
    app,
    async open(
      options: CollectionOptions<Errand> & { readonly path?: string } = { live: true },
      connecting: ConnectOptions = {},
    ) {
      const { path = "/errands", ...others } = options;
      const line = new Line();
      const resource = reach(line, connecting).resource<Errand>(path, { idempotency: true });
      const opened = openErrands(resource, others);
      await opened.collection.preload();
      return { ...opened, line, resource };
    },
    async openChosen(path = "/chosen") {
      const line = new Line();
      const opened = openErrands(reach(line).resource<ChosenErrand>(path), { live: true });
      await opened.collection.preload();
      return { ...opened, line };
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

/** What a collection shows, in an order of its own. */
export function textsOf(collection: Errands): string[] {
  return collection.toArray.map(({ text, done }) => done ? `${text} ✓` : text).sort();
}

export function shows(collection: Errands, ...texts: string[]): Promise<void> {
  const wanted = texts.toSorted().join();
  return until(() => textsOf(collection).join() === wanted, { seconds: 20, everyMs: 5 });
}

/** Notes what a collection shows after each change. */
export function watch(collection: Errands): string[] {
  const seen: string[] = [];
  const note = () => void seen.push(textsOf(collection).join());
  collection.subscribeChanges(note, { includeInitialState: true });
  seen.length = 0;
  return seen;
}

/** The key of the only row with a text. */
export function keyOf(collection: Errands, text: string): string {
  const found = collection.toArray.filter((row) => row.text === text);
  if (found.length !== 1) throw new Error(`${found.length} rows have the text ${text}`);
  return found[0]?._id ?? "";
}
