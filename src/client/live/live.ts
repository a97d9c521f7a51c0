import { EventParser } from "./event_parser.ts";
import { FoldedList } from "./folded_list.ts";

/** How a live list is read. */
interface LiveReading {
  readonly signal?: AbortSignal | undefined;
  readonly silenceMS?: number | undefined;
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
  readonly revive?: readonly string[];
}

/** The request of a live list, apart from its options. */
interface LiveRequest {
  readonly method: "GET";
  readonly headers: Readonly<Record<string, string>>;
  /** Is shown each answer, and keeps those that are no errors. */
  readonly keep: (response: Response) => object | undefined;
}

/** The rest of the client. Bundlers split the client in more parts if it is imported here. */
interface LiveSource {
  readonly send: (request: LiveRequest) => Promise<unknown>;
  readonly revive: (entity: object, names: readonly string[] | undefined) => void;
}

/** Changes that come within this time are one. */
const TOGETHER_MS = 10;

/** The time without a heartbeat after which a connection counts as dead. The server sends one every 15 seconds. */
const SILENCE_MS = 45_000;

const FIRST_PAUSE_MS = 1000;

/** Pauses double up to here, while no connection lasts as long. */
const LONGEST_PAUSE_MS = 30_000;

/** Timers run off at once if they are longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** How many streams may break before the first list has come. */
const MOST_AT_FIRST = 3;

/**
 * Gives a list, and again after each change, over as many connections as it takes.
 *
 * @throws {ApiError} If the server refuses. Whatever else goes wrong is thrown only if the first list has not come.
 */
export async function* live(
  { send, revive }: LiveSource,
  reading: LiveReading,
): AsyncGenerator<object[], void, undefined> {
  const { signal, onDisconnect } = reading;
  const list = new FoldedList((entity) => revive(entity, reading.revive));
  let isFirst = true;
  for (let broken = 0; !signal?.aborted; broken++) {
    const start = Date.now();
    const answers: Response[] = [];
    const keep = (response: Response) => {
      answers.push(response);
      return response.ok ? response : undefined;
    };
    let isOpen = false;
    try {
      list.reopen();
      const place = list.place === "" ? undefined : { "last-event-id": list.place };
      const headers = { accept: "text/event-stream", ...place };
      await send({ method: "GET", headers, keep });
      isOpen = true;
      for await (const entities of listsIn(streamOf(answers.at(-1)), list, reading)) {
        isFirst = false;
        yield entities;
      }
    } catch (error) {
      if (signal?.aborted) return;
      const { status = 0 } = isOpen ? {} : answers.at(-1) ?? {};
      const isRefused = status >= 400 && status < 500;
      if (isRefused || isFirst && (!isOpen || broken >= MOST_AT_FIRST)) throw error;
      if (!isFirst) onDisconnect?.(error);
    }
    if (Date.now() - start > LONGEST_PAUSE_MS) broken = 0;
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** broken, LONGEST_PAUSE_MS);
    const asked = Number(answers.at(-1)?.headers.get("retry-after")) * 1000 || 0;
    await pause(asked + longest * Math.random(), signal);
  }
}

function streamOf(response: Response | undefined): ReadableStream<Uint8Array> {
  const type = response?.headers.get("content-type");
  if (response?.body && type?.startsWith("text/event-stream")) return response.body;
  throw new TypeError(`Cannot read a live list from ${type}: the route needs all({ live: true })`);
}

/** Gives the list whenever events have changed it and no more of them come at once. */
async function* listsIn(
  stream: ReadableStream<Uint8Array>,
  list: FoldedList,
  { signal, silenceMS = SILENCE_MS }: LiveReading,
): AsyncGenerator<object[], void, undefined> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  // No promise lasts as long as the stream: each wait for it would be kept until its end.
  const state: { wake: () => void; end?: { readonly error?: unknown } } = { wake: () => {} };
  const noteEnd = (end: { readonly error?: unknown }) => {
    state.end = end;
    state.wake();
  };
  follow(reader, { list, silenceMS, tellNews: () => state.wake() })
    .then(() => noteEnd({}), (error) => noteEnd({ error }));
  try {
    for (;;) {
      if (!list.hasNews && state.end === undefined) {
        await new Promise<void>((resolve) => state.wake = resolve);
      }
      if (list.hasNews) await pause(TOGETHER_MS, signal);
      if (signal?.aborted) return;
      if (state.end !== undefined && "error" in state.end) throw state.end.error;
      if (list.hasNews) yield list.takeNews();
      else if (state.end !== undefined) return;
    }
  } finally {
    signal?.removeEventListener("abort", cancel);
    cancel();
  }
}

/** Takes the events into the list as they come, also while its reader is busy with an earlier one. */
async function follow(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { list, silenceMS, tellNews }: {
    readonly list: FoldedList;
    readonly silenceMS: number;
    readonly tellNews: () => void;
  },
): Promise<void> {
  const parser = new EventParser();
  for (;;) {
    const step = await within(reader.read(), silenceMS);
    if (step === undefined) throw silent(silenceMS);
    if (step.value === undefined) return;
    for (const event of parser.push(step.value)) list.take(event);
    if (list.hasNews) tellNews();
  }
}

/** Waits for a promise. Gives `undefined` if it takes longer. */
async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), Math.min(milliseconds, LONGEST_TIMER_MS));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits, or until a signal comes. */
async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => stop = resolve);
  signal?.addEventListener("abort", stop);
  await within(aborted, milliseconds);
  signal?.removeEventListener("abort", stop);
}

function silent(silenceMS: number): DOMException {
  return new DOMException(`Nothing has come for ${silenceMS} ms`, "TimeoutError");
}
