import { EventParser } from "./event_parser.ts";
import { FoldedList } from "./folded_list.ts";

/** The options of `live()` that the client applies itself and does not send to the server. */
interface LiveReading {
  readonly signal?: AbortSignal | undefined;
  readonly silenceMS?: number | undefined;
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
  readonly revive?: readonly string[];
}

/** The request that opens the stream of a live list. The caller's `send` adds the options of the call. */
interface LiveRequest {
  readonly method: "GET";
  readonly headers: Readonly<Record<string, string>>;
  /** A function that gets each answer. If it returns the answer, the client does not read the body as JSON. */
  readonly keep: (response: Response) => object | undefined;
}

/**
 * The functions of the client that a live list calls, as arguments. An import of the modules of these functions would
 * make bundlers split the client into more files.
 */
interface LiveSource {
  readonly send: (request: LiveRequest) => Promise<unknown>;
  readonly revive: (entity: object, names: readonly string[] | undefined) => void;
}

/**
 * The milliseconds that the client waits after a change. Changes within this time are in one list, so that the loop of
 * the reader runs once for all of them.
 */
const TOGETHER_MS = 10;

/**
 * The default of `silenceMS`, which is the time without bytes after which the client closes a connection. The server
 * sends a heartbeat every 15 seconds by default, so a working connection is never silent for this long.
 */
const SILENCE_MS = 45_000;

const FIRST_PAUSE_MS = 1000;

/**
 * The longest pause before a reconnection, in milliseconds. Pauses double up to this length, and begin again at
 * `FIRST_PAUSE_MS` after a connection that has lasted longer than this time.
 */
const LONGEST_PAUSE_MS = 30_000;

/** The longest delay of `setTimeout()` in milliseconds. A timer with a longer delay would end at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The number of streams that may break before the first list. If one more breaks, `live()` throws. */
const MOST_AT_FIRST = 3;

/**
 * Yields the entities of a live list, and yields them again after each change. Opens another connection when one ends.
 *
 * @throws {ApiError} If the server answers with a 4xx status. Before the first list, the error of a failed
 * request or of the fourth broken stream is thrown too. After the first list, `onDisconnect` gets other errors.
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

/** Yields the list after its events on one connection. Changes within `TOGETHER_MS` are in the same array. */
async function* listsIn(
  stream: ReadableStream<Uint8Array>,
  list: FoldedList,
  { signal, silenceMS = SILENCE_MS }: LiveReading,
): AsyncGenerator<object[], void, undefined> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  // The end of the stream is a property instead of a promise. A promise would keep the callbacks of every wait in
  // memory until the end of the stream.
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

/**
 * Reads a stream to its end and applies its events to the list. Runs while the caller's loop is busy with an earlier
 * list, so the next list of the loop has all changes.
 */
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

/** Resolves with the value of a promise, or with `undefined` if the promise takes longer than the given time. */
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

/** Resolves after the given time. Resolves earlier if the signal is aborted, so that an aborted loop ends at once. */
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
