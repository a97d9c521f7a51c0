import { ApiError } from "../api_error.ts";
import { openDeadline, untilAborted } from "./deadline.ts";
import { pause, pauseAfter, type RetryOptions } from "./retry.ts";
import { toJson } from "./to_json.ts";

/** Headers, as an object or as `Headers`. */
export type HeaderValues = Readonly<Record<string, string>> | Headers;

/** A function that sends requests: `fetch()`, or a function that is called like it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Options of {@linkcode connect}. */
export interface ConnectOptions {
  /** Headers of every request, or a function that returns them before each one. */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /**
   * Whether cookies are sent. Without it, `fetch()` decides: browsers send them to the origin of the page.
   */
  readonly credentials?: "include" | "omit" | "same-origin";
  /**
   * The function that sends requests.
   *
   * @default {globalThis.fetch}
   */
  readonly fetch?: Fetch;
  /**
   * How long a call waits, in milliseconds. All its repetitions count.
   *
   * @default {30000}
   */
  readonly timeoutMS?: number;
  /** How often, and after which pauses, a request is repeated. */
  readonly retry?: RetryOptions;
}

/** Options of every call. */
export interface CallOptions {
  /** Ends the call. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call waits, in milliseconds. The default is that of the connection. */
  readonly timeoutMS?: number | undefined;
  /** More headers. They replace those of the connection. */
  readonly headers?: HeaderValues | undefined;
  /** Query parameters that hooks read. They do not replace those of other options. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** One request. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  /** The headers of the operation, and those of the call. */
  readonly headers: Headers;
  readonly body?: object | undefined;
  /** Whether sending it twice is the same as sending it once. */
  readonly repeatable?: boolean;
  /** Is shown each answer. One that it keeps is not read. */
  readonly keep?: ((response: Response) => Content | undefined) | undefined;
  readonly options: CallOptions;
}

/** An answer. */
export interface Incoming extends Content {
  readonly status: number;
  readonly headers: Headers;
}

interface Content {
  readonly body?: unknown;
  /** Whether the body is text in the place of JSON, such as the page of a proxy. */
  readonly isText?: boolean;
}

export type Send = (outgoing: Outgoing) => Promise<Incoming>;

/**
 * Sends a request, and repeats it where that is safe: after a 503, if there was no complete answer, or if another try of
 * it is under way.
 *
 * @throws {ApiError} If the answer is no success, and not 304.
 */
export async function sendRequest(
  outgoing: Outgoing,
  connection: ConnectOptions,
): Promise<Incoming> {
  const { signal: given, timeoutMS = connection.timeoutMS ?? 30_000 } = outgoing.options;
  const { signal, end } = openDeadline({ signal: given, timeoutMS });
  try {
    signal.throwIfAborted();
    // Neither a function for headers nor a given fetch() has to know the signal.
    return await Promise.race([untilAborted(signal), repeat(outgoing, { connection, signal })]);
  } finally {
    end();
  }
}

async function repeat(outgoing: Outgoing, options: AttemptOptions): Promise<Incoming> {
  const { connection: { retry = {} }, signal } = options;
  for (let repeated = 0;; repeated++) {
    const { incoming, error } = await attempt(outgoing, options);
    if (incoming !== undefined && !isBusy(incoming, outgoing)) return accept(incoming);
    const retryAfter = incoming?.headers.get("retry-after");
    const milliseconds = outgoing.repeatable && !signal.aborted
      ? pauseAfter({ repeated, retryAfter, random: Math.random() }, retry)
      : undefined;
    if (milliseconds !== undefined) await pause(milliseconds, signal);
    else if (incoming !== undefined) return accept(incoming);
    else throw error;
  }
}

/** Whether a later try can have another answer. A `POST` with a key is a 409 while another try of it is under way. */
function isBusy({ status, headers }: Incoming, { method }: Outgoing): boolean {
  return status === 503 || status === 409 && method === "POST" && headers.has("retry-after");
}

function accept(incoming: Incoming): Incoming {
  const { status, body, isText } = incoming;
  if (status >= 200 && status < 300 && !isText || status === 304) return incoming;
  throw new ApiError(status, body);
}

interface AttemptOptions {
  readonly connection: ConnectOptions;
  readonly signal: AbortSignal;
}

/** Sends a request once. An answer that does not arrive as a whole is an error. */
async function attempt(
  { method, url, headers, body, keep }: Outgoing,
  { connection, signal }: AttemptOptions,
): Promise<{ readonly incoming?: Incoming; readonly error?: unknown }> {
  const { fetch = globalThis.fetch, credentials, headers: given } = connection;
  const init: RequestInit = {
    method,
    headers: joinHeaders(
      { accept: "application/json" },
      typeof given === "function" ? await given() : given,
      headers,
    ),
    signal,
    // Some workers refuse its name, whatever its value.
    ...credentials !== undefined && { credentials },
    ...body !== undefined && { body: toJson(body, "body") },
  };
  signal.throwIfAborted();
  // It throws if the URL is wrong, which no repetition mends. A given fetch() may know other URLs.
  if (connection.fetch === undefined) new Request(url);
  try {
    const response = await fetch(url, init);
    const { status, headers } = response;
    return {
      incoming: { status, headers, ...keep?.(response) ?? parse(await response.text()) },
    };
  } catch (error) {
    return { error: signal.aborted ? signal.reason : error };
  }
}

/** Joins headers: later ones replace those before. */
export function joinHeaders(...all: readonly (HeaderValues | undefined)[]): Headers {
  const joined = new Headers();
  for (const headers of all) new Headers(headers).forEach((value, name) => joined.set(name, value));
  return joined;
}

function parse(text: string): Content {
  try {
    return { body: text === "" ? undefined : JSON.parse(text) };
  } catch {
    return { body: text, isText: true };
  }
}
