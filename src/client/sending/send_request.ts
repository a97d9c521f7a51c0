import { ApiError } from "../api_error.ts";
import { openDeadline, signalOfStream, untilAborted } from "./deadline.ts";
import { pause, retryPause } from "./retry.ts";
import { toJson } from "./to_json.ts";

/** @internal */
export type HeaderValues = Readonly<Record<string, string>> | Headers;

/** A function with the arguments of `fetch()`. */
export type FetchFunction = (url: string, init: RequestInit) => Promise<Response>;

/** Options of {@linkcode connect}. */
export interface ConnectOptions extends Pick<CallOptions, "timeoutMS"> {
  /**
   * The headers of every request, or a function that returns them before each attempt, for example with a fresh token.
   */
  readonly headers?: HeaderValues | (() => HeaderValues | Promise<HeaderValues>);
  /**
   * An API key, or a function that returns it before each attempt, for the header `X-API-Key`. With a key, the client
   * follows no redirect, because the other origin would get the header too.
   */
  readonly apiKey?: string | (() => string | Promise<string>);
  /** Whether cookies are sent. By default, browsers send them only to the origin of the page. */
  readonly credentials?: "include" | "omit" | "same-origin";
  /**
   * Sends requests, for example to trace them.
   *
   * @default {globalThis.fetch}
   */
  readonly fetch?: FetchFunction;
  /**
   * Whether the client reads a list by the method `QUERY` if its URL would exceed 2,000 characters, because servers and
   * proxies refuse long URLs. The server must have `initialize({ queryMethod: true })`.
   *
   * @default {false}
   */
  readonly queryMethod?: boolean;
  /**
   * The largest number of repetitions of a request after a 503, or without a complete answer. Only requests are
   * repeated for which two attempts have the same effect as one, after pauses of 0.25 to 10 seconds. If `Retry-After`
   * names a longer time, the call fails with the answer.
   *
   * @default {3}
   */
  readonly retry?: number;
}

/** Options that every operation of the client accepts. */
export interface CallOptions {
  /** Aborts the call, which then fails with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The time limit of a call with all its repetitions, in milliseconds. The default is that of `connect()`, or else
   * 30,000.
   */
  readonly timeoutMS?: number | undefined;
  /** Additional headers, which replace headers of `connect()` with the same name. */
  readonly headers?: HeaderValues | undefined;
  /** Additional query parameters, which hooks of the server can read. Parameters of other options have precedence. */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
}

/** The request of an operation, without the headers of `connect()`. */
export interface Outgoing {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "QUERY";
  readonly url: string;
  readonly headers: Headers;
  readonly body?: object | undefined;
  /** Whether the request reads a list, so that a `QUERY` request may have its parameters in the body. */
  readonly isList?: boolean;
  readonly bytes?: Blob;
  /** Whether the request can be sent again, after the given answer or without one. */
  readonly repeatable?: (incoming?: Incoming) => boolean;
  /** Returns an object if the body must stay unread, because a live list or a download reads it as a stream. */
  readonly keep?: ((response: Response) => Content | undefined) | undefined;
  readonly options: CallOptions;
}

export interface Incoming extends Content {
  readonly status: number;
  readonly headers: Headers;
  /** The parameters in the body of a `QUERY` request, which are missing in the link to the next page. */
  readonly sent?: string | undefined;
}

interface Content {
  readonly body?: unknown;
  /** Whether the body is not JSON, such as the HTML page of a proxy, so that the call fails. */
  readonly isText?: boolean;
}

export type Send = (outgoing: Outgoing) => Promise<Incoming>;

/**
 * Sends a repeatable request again after a 503, or if no complete answer arrives.
 *
 * @throws {ApiError} If the status of the last answer is neither 2xx nor 304, or if its body is not JSON.
 */
export async function sendRequest(
  given: Outgoing,
  connection: ConnectOptions,
): Promise<Incoming> {
  const { isList, url } = given;
  if (!connection.queryMethod || !isList || url.length <= LONGEST_URL) {
    return await sendWithin(given, connection);
  }
  const [path = "", sent] = url.split("?");
  const headers = mergeHeaders(given.headers, { "content-type": "application/json" });
  const body = Object.fromEntries(new URLSearchParams(sent));
  const incoming = await sendWithin(
    { ...given, method: "QUERY", url: path, headers, body },
    connection,
  );
  return { ...incoming, sent };
}

/** Servers and proxies accept URLs of this length. */
const LONGEST_URL = 2000;

async function sendWithin(outgoing: Outgoing, connection: ConnectOptions): Promise<Incoming> {
  const { signal: given, timeoutMS = connection.timeoutMS ?? 30_000 } = outgoing.options;
  const { signal, end } = openDeadline({ signal: given, timeoutMS });
  try {
    signal.throwIfAborted();
    // All attempts send the JSON of this moment, because the application may change the body after the call.
    const content = outgoing.bytes ?? (outgoing.body && toJson(outgoing.body, "body"));
    const options = { connection, signal, content };
    // A call must end when its signal is aborted, even if the function for headers or a custom `fetch()` ignores it.
    return await Promise.race([untilAborted(signal), repeat(outgoing, options)]);
  } finally {
    end();
  }
}

async function repeat(outgoing: Outgoing, options: AttemptOptions): Promise<Incoming> {
  const { connection: { retry }, signal } = options;
  for (let repeated = 0;; repeated++) {
    const { incoming, error } = await attempt(outgoing, options);
    if (incoming !== undefined && !isBusy(incoming, outgoing)) return accept(incoming);
    const retryAfter = incoming?.headers.get("retry-after");
    const milliseconds = outgoing.repeatable?.(incoming) && !signal.aborted
      ? retryPause({ repeated, retryAfter, random: Math.random() }, retry)
      : undefined;
    if (milliseconds !== undefined) await pause(milliseconds, signal);
    else if (incoming !== undefined) return accept(incoming);
    else throw error;
  }
}

/**
 * A 409 with `Retry-After` means that an earlier attempt with the same idempotency key still runs, so the client waits.
 */
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
  readonly content: Blob | string | undefined;
}

/** Returns an `error` if no complete answer arrives, so that the request can be repeated. */
async function attempt(
  { method, url, headers, keep, options }: Outgoing,
  { connection, signal, content }: AttemptOptions,
): Promise<{ readonly incoming?: Incoming; readonly error?: unknown }> {
  const { fetch = globalThis.fetch, credentials, headers: given, apiKey } = connection;
  const key = typeof apiKey === "function" ? await apiKey() : apiKey;
  const init: RequestInit = {
    method,
    headers: mergeHeaders(
      { accept: "application/json", ...key && { "x-api-key": key } },
      typeof given === "function" ? await given() : given,
      headers,
    ),
    signal: keep ? signalOfStream(signal, options.signal) : signal,
    // Some worker runtimes throw at the key `credentials`, even with the value `undefined`.
    ...credentials !== undefined && { credentials },
    ...content && { body: content },
    ...key && { redirect: "manual" },
  };
  signal.throwIfAborted();
  // `Request` throws at an invalid URL. The error of `fetch()` would look like a lost connection, and the client would
  // repeat the request. A custom `fetch()` may accept other URLs.
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

export function mergeHeaders(...all: readonly (HeaderValues | undefined)[]): Headers {
  const merged = new Headers();
  for (const headers of all) new Headers(headers).forEach((value, name) => merged.set(name, value));
  return merged;
}

function parse(text: string): Content {
  try {
    return { body: text === "" ? undefined : JSON.parse(text) };
  } catch {
    return { body: text, isText: true };
  }
}
