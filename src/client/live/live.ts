import { EventParser } from "./event_parser.ts";
import { FoldedList } from "./folded_list.ts";

interface LiveReading {
  readonly signal?: AbortSignal | undefined;
  readonly onDisconnect?: ((error: unknown) => void) | undefined;
  readonly revive?: readonly string[];
}

interface LiveRequest {
  readonly method: "GET";
  readonly headers: Readonly<Record<string, string>>;
  readonly keep: (response: Response) => object | undefined;
}

/**
 * `live.ts`, which is loaded on demand, gets these functions of the client as arguments. With imports, bundlers would
 * split the client into more files.
 */
interface LiveSource {
  readonly longestTimerMS: number;
  readonly send: (request: LiveRequest) => Promise<unknown>;
  readonly revive: (entity: object, names: readonly string[] | undefined) => void;
}

/** Changes within this time are in one list, so that the loop of the application runs once for them. */
const GATHER_MS = 10;

/** A connection without bytes for this time is lost, because the server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 45_000;

const FIRST_PAUSE_MS = 1000;

/**
 * Pauses between connections double up to this length. After a connection that has lasted longer, they begin at one
 * second again.
 */
const LONGEST_PAUSE_MS = 30_000;

/** If more connections break before the first list, the loop throws. */
const MOST_AT_FIRST = 3;

/**
 * Opens another connection when one ends. Only 4xx answers and failures before the first list throw. `onDisconnect`
 * gets other errors.
 */
export async function* live(
  { send, revive, longestTimerMS }: LiveSource,
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
      for await (const entities of listsIn(streamOf(answers.at(-1)), { list, signal })) {
        isFirst = false;
        yield entities;
      }
      if (isFirst) throw new Error("Cannot read a live list: its stream has ended before the list");
    } catch (error) {
      if (signal?.aborted) return;
      const { status = 0 } = isOpen ? {} : answers.at(-1) ?? {};
      const isRefused = status >= 400 && status < 500;
      if (isRefused || isFirst && (!isOpen || broken >= MOST_AT_FIRST)) throw error;
      if (!isFirst) onDisconnect?.(error);
    }
    if (!isFirst && Date.now() - start > LONGEST_PAUSE_MS) broken = 0;
    const longest = Math.min(FIRST_PAUSE_MS * 2 ** broken, LONGEST_PAUSE_MS);
    const asked = Number(answers.at(-1)?.headers.get("retry-after")) * 1000 || 0;
    await pause(Math.min(asked + longest * Math.random(), longestTimerMS), signal);
  }
}

function streamOf(response: Response | undefined): ReadableStream<Uint8Array> {
  const type = response?.headers.get("content-type");
  if (response?.body && type?.startsWith("text/event-stream")) return response.body;
  throw new TypeError(`Cannot read a live list from ${type}: the route needs all({ live: true })`);
}

async function* listsIn(
  stream: ReadableStream<Uint8Array>,
  { list, signal }: { readonly list: FoldedList; readonly signal: AbortSignal | undefined },
): AsyncGenerator<object[], void, undefined> {
  const reader = stream.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  signal?.addEventListener("abort", cancel);
  // Each wait has a callback, because a race with a promise for the end of the stream would keep all waits in memory.
  const state: { wake: () => void; end?: { readonly error?: unknown } } = { wake: () => {} };
  const noteEnd = (end: { readonly error?: unknown }) => {
    state.end = end;
    state.wake();
  };
  follow(reader, { list, onNews: () => state.wake() })
    .then(() => noteEnd({}), (error) => noteEnd({ error }));
  try {
    for (;;) {
      if (!list.hasNews && state.end === undefined) {
        await new Promise<void>((resolve) => state.wake = resolve);
      }
      if (list.hasNews) await pause(GATHER_MS, signal);
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

/** Reads on while the application handles an earlier list, so that the next list has all changes. */
async function follow(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { list, onNews }: { readonly list: FoldedList; readonly onNews: () => void },
): Promise<void> {
  const parser = new EventParser();
  for (;;) {
    const step = await within(reader.read(), SILENCE_MS);
    if (step === undefined) {
      throw new DOMException(`Nothing has come for ${SILENCE_MS} ms`, "TimeoutError");
    }
    if (step.value === undefined) return;
    for (const event of parser.push(step.value)) list.take(event);
    if (list.hasNews) onNews();
  }
}

async function within<T>(promise: Promise<T>, milliseconds: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return;
  let stop = () => {};
  const aborted = new Promise<void>((resolve) => stop = resolve);
  signal?.addEventListener("abort", stop);
  await within(aborted, milliseconds);
  signal?.removeEventListener("abort", stop);
}
