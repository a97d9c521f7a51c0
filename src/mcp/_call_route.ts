import { Buffer } from "node:buffer";
import { EventEmitter } from "node:events";
import { ServerResponse } from "node:http";
import type { Request, RequestHandler, Response } from "express-types";
import { internal, notFound, refusal } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { innerRequests } from "../http/handle_route.ts";
import type { ExposedRoute } from "./_exposed_models.ts";

export interface RouteCall {
  readonly exposed: ExposedRoute;
  /** The identifier in the path, if the path has one. */
  readonly id?: string | undefined;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  /** Whether the answer is the description of the route, for the tool `describe`. The API then reads no entities. */
  readonly describes?: boolean;
}

export interface RouteAnswer {
  readonly status: number;
  /** The parsed JSON of the answer, the text of an answer that is not JSON, or `undefined` for an empty answer. */
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
}

/**
 * The longest answer, in bytes. An answer needs several times its length of memory before it reaches the assistant. The
 * assistant gets an error in the place of a longer answer.
 */
const MAX_BYTES = 1_000_000;

/**
 * The pattern of the headers that describe the body, the connection or the conditions of the request of the assistant.
 * The request that a tool makes from it does not get these headers, because it has another body and other conditions.
 */
const OWN_HEADERS =
  /^(accept|accept-encoding|connection|content-.*|expect|idempotency-key|if-.*|keep-alive|last-event-id|mcp-.*|prefer|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Sends a request of the caller through the router of an API. The request has the caller's connection and headers, and
 * all properties that middleware has set on the caller's request.
 *
 * @throws The error that the router passes on.
 */
export async function callRoute(
  api: RequestHandler,
  { req, call }: { readonly req: Request; readonly call: RouteCall },
): Promise<RouteAnswer> {
  const inner = innerRequest(req, call);
  const outer = req.res as Response;
  const captured = new CapturedResponse(inner, outer);
  const leave = () => void captured.res.destroy();
  outer.once("close", leave);
  try {
    return await new Promise<RouteAnswer>((resolve, reject) => {
      void captured.answer.then(resolve, reject);
      api(inner, captured.res, (error?: unknown) => {
        if (error === undefined || error === null) resolve(failure(notFound()));
        else reject(error);
      });
    });
  } finally {
    outer.off("close", leave);
  }
}

/**
 * Builds a request whose prototype is the request of the caller. Hooks set properties on the new request only, so hooks
 * that run longer than the call do not change the caller's request.
 */
function innerRequest(req: Request, call: RouteCall): Request {
  const { exposed: { mounted, route }, id = "", body, describes = false } = call;
  const { query = new URLSearchParams() } = call;
  const path = mounted.path.replace("/:id", () => `/${encodeURIComponent(id)}`);
  const url = query.size === 0 ? path : `${path}?${query}`;
  const kept = Object.entries(req.headers).filter(([name]) => !OWN_HEADERS.test(name));
  const given = body && { "content-type": "application/json", "transfer-encoding": "chunked" };
  const headers = { ...Object.fromEntries(kept), accept: "application/json" };
  const own = {
    url,
    originalUrl: `${req.baseUrl}${url}`,
    method: mounted.operation.verb.toUpperCase(),
    headers: { ...headers, ...given, ...call.headers },
    body,
    // The new request has the parameters of the tool. Middleware may have set the property `query` on the request of
    // the assistant, whose parameters would apply otherwise.
    query: Object.fromEntries(query),
  };
  const inner: Request = Object.create(req, Object.getOwnPropertyDescriptors(own));
  // Without this call, listeners of the new request would be added to the caller's request.
  Reflect.apply(EventEmitter, inner, []);
  innerRequests.set(inner, { mounted, route, describes });
  return inner;
}

/**
 * The response to a request that a tool sends to the API. The response collects its body in memory instead of sending
 * it, so each write succeeds at once.
 */
class CapturedResponse {
  readonly res: Response;
  readonly answer: Promise<RouteAnswer>;
  readonly #pieces: Buffer[] = [];
  #size = 0;
  #state: "new" | "begun" | "ended" | "destroyed" = "new";
  #resolve: (answer: RouteAnswer) => void = () => {};

  constructor(inner: Request, outer: Response) {
    const made = new ServerResponse(inner);
    const res: Response = this.res = Object.setPrototypeOf(made, Object.getPrototypeOf(outer));
    this.answer = new Promise((resolve) => this.#resolve = resolve);
    const is = (...states: string[]) => states.includes(this.#state);
    const own = {
      // Without this property, the response would wait for the response that the connection is sending.
      assignSocket: undefined,
      locals: outer.locals,
      write: (chunk: unknown, encoding: unknown) => {
        this.#take(chunk, encoding);
        return true;
      },
      end: (chunk: unknown, encoding: unknown) => {
        this.#take(chunk, encoding);
        const body = parsed(Buffer.concat(this.#pieces).toString());
        this.#finish("ended", { status: res.statusCode, body, header: headersOf(res) });
        return res;
      },
      destroy: () => {
        this.#finish("destroyed", failure(internal()));
        return res;
      },
      get headersSent() {
        return !is("new");
      },
      get writableEnded() {
        return is("ended");
      },
      get writableFinished() {
        return is("ended");
      },
      get destroyed() {
        return is("destroyed");
      },
    };
    Object.defineProperties(res, Object.getOwnPropertyDescriptors(own));
    Object.defineProperty(inner, "res", { value: res, writable: true, configurable: true });
  }

  #take(chunk: unknown, encoding: unknown): void {
    if (this.#state === "new") this.#state = "begun";
    if (this.#state !== "begun") return;
    const isText = typeof chunk === "string";
    if (!isText && !(chunk instanceof Uint8Array)) return;
    const form = typeof encoding === "string" ? encoding as BufferEncoding : "utf8";
    const piece = isText ? Buffer.from(chunk, form) : Buffer.from(chunk);
    this.#size += piece.length;
    this.#pieces.push(piece);
    if (this.#size > MAX_BYTES) this.#finish("destroyed", failure(tooLong()));
  }

  #finish(state: "ended" | "destroyed", answer: RouteAnswer): void {
    if (this.#state === "ended" || this.#state === "destroyed") return;
    this.#state = state;
    this.#resolve(answer);
    queueMicrotask(() => {
      if (state === "ended") this.res.emit("finish");
      this.res.emit("close");
    });
  }
}

function headersOf(res: Response): RouteAnswer["header"] {
  return (name) => {
    const value = res.getHeader(name);
    return value === undefined ? undefined : [value].flat().join(", ");
  };
}

function failure({ status, body }: RestError): RouteAnswer {
  return { status, body, header: () => undefined };
}

function tooLong(): RestError {
  const message = `The answer is longer than ${MAX_BYTES} bytes: ask for less`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit: MAX_BYTES });
}

/**
 * Returns the parsed JSON of a text. Returns the text itself if it is not JSON, because a hook may have sent another
 * format. Returns `undefined` for an empty text.
 */
function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
