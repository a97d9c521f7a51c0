import { Buffer } from "node:buffer";
import { EventEmitter, setMaxListeners } from "node:events";
import { ServerResponse } from "node:http";
import type { Request, RequestHandler, Response } from "express-types";
import type { TimeBudget } from "../store/time_budget.ts";
import { internal, refusal } from "../errors/refusals.ts";
import type { RestError } from "../errors/rest_error.ts";
import { toJson } from "../json/to_json.ts";
import type { Call } from "../pipeline/request/request_context.ts";
import type { Route } from "../pipeline/request/route.ts";

export interface InnerRequest {
  /** Any other route answers 404, so that MCP reaches no route that is not exposed. */
  readonly mounted?: Route;
  /** A copy of `mounted` with narrower options, such as smaller pages. */
  readonly route?: Route;
  readonly describes?: boolean;
  /** The client's HTTP request. Plugins admit it once, and not each internal request. */
  readonly client?: object;
  /** The HTTP request of a batch, whose internal requests must have the same sender. */
  readonly origin?: Request;
  readonly timeBudget?: TimeBudget;
  /** All routes of the transaction, whose indexes must be built before it begins. */
  readonly sharedRoutes?: readonly Route[];
  /** Is called before the hooks. If it throws, its error is the answer. */
  readonly admit?: (call: Call) => Promise<void>;
}

const innerRequests = new WeakMap<object, InnerRequest>();

export function innerRequestOf(req: object): InnerRequest | undefined {
  return innerRequests.get(req);
}

export function standFor(req: Request, copy: Request): Request {
  innerRequests.set(copy, { client: req });
  return copy;
}

export interface InnerMessage {
  readonly method: string;
  /** The URL below the path of the router. */
  readonly url: string;
  readonly query: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface InnerAnswer {
  readonly status: number;
  /** The names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** `Set-Cookie` headers, which cannot be joined to one header. */
  readonly cookies: readonly string[];
  readonly text: string;
  readonly bytes: number;
}

/** Internal requests do not inherit these headers about body, connection or conditions of the client's request. */
const OWN_HEADERS =
  /^(accept|accept-encoding|connection|content-.*|expect|idempotency-key|if-.*|keep-alive|last-event-id|mcp-.*|prefer|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/;

interface InnerOptions {
  readonly req: Request;
  readonly message: InnerMessage;
  readonly facts: InnerRequest;
  /** The answer is held in memory. A longer answer becomes an error. */
  readonly maxBytes: number;
}

export async function sendInner(
  handler: RequestHandler,
  { req, message, facts, maxBytes }: InnerOptions,
): Promise<InnerAnswer | undefined> {
  const inner = innerRequest(req, message);
  innerRequests.set(inner, { client: innerRequestOf(req)?.client ?? req, ...facts });
  const outer = req.res as Response;
  const captured = new CapturedResponse(inner, { outer, maxBytes });
  const leave = () => void captured.res.destroy();
  // Node warns at the eleventh listener, and the admin page makes an internal request for each route at once.
  setMaxListeners(0, outer);
  outer.once("close", leave);
  try {
    return await new Promise<InnerAnswer | undefined>((resolve, reject) => {
      void captured.answer.then(resolve, reject);
      handler(inner, captured.res, (error?: unknown) => {
        if (error === undefined || error === null) resolve(undefined);
        else reject(error);
      });
    });
  } finally {
    outer.off("close", leave);
  }
}

/**
 * The client's request is the prototype, so the internal request has the properties that middleware has set. Hooks set
 * theirs on the internal request only.
 */
function innerRequest(
  req: Request,
  { url: path, headers, body, ...message }: InnerMessage,
): Request {
  // The path of a route may have letters that a URL encodes.
  const url = path.replace(/[^\x21-\x7e]+/g, encodeURIComponent);
  const kept = Object.entries(req.headers).filter(([name]) => !OWN_HEADERS.test(name));
  const given = body === undefined
    ? {}
    : { "content-type": "application/json", "transfer-encoding": "chunked" };
  const own = {
    ...message,
    url,
    originalUrl: `${req.baseUrl}${url}`,
    headers: {
      ...Object.fromEntries(kept),
      accept: "application/json",
      ...given,
      ...headers,
    },
    body,
  };
  const inner: Request = Object.create(req, Object.getOwnPropertyDescriptors(own));
  // Listeners must not be added to the client's request.
  Reflect.apply(EventEmitter, inner, []);
  return inner;
}

class CapturedResponse {
  readonly res: Response;
  readonly answer: Promise<InnerAnswer>;
  readonly #pieces: Buffer[] = [];
  readonly #maxBytes: number;
  #size = 0;
  state: "new" | "begun" | "ended" | "destroyed" = "new";
  #resolve: (answer: InnerAnswer) => void = () => {};

  constructor(
    inner: Request,
    { outer, maxBytes }: { readonly outer: Response; readonly maxBytes: number },
  ) {
    this.#maxBytes = maxBytes;
    const made = new ServerResponse(inner);
    const res: Response = this.res = Object.setPrototypeOf(made, capturingPrototype(outer));
    captured.set(res, this);
    // A hook's changes of `res.locals` must affect no other request of a batch.
    res.locals = { ...outer.locals };
    this.answer = new Promise((resolve) => this.#resolve = resolve);
    Object.defineProperty(inner, "res", { value: res, writable: true, configurable: true });
  }

  take(chunk: unknown, encoding: unknown): void {
    if (this.state === "new") this.state = "begun";
    if (this.state !== "begun") return;
    const isString = typeof chunk === "string";
    if (!isString && !(chunk instanceof Uint8Array)) return;
    const form = typeof encoding === "string" ? encoding as BufferEncoding : "utf8";
    const piece = isString ? Buffer.from(chunk, form) : Buffer.from(chunk);
    this.#size += piece.length;
    this.#pieces.push(piece);
    if (this.#size > this.#maxBytes) this.#finish("destroyed", failure(tooLong(this.#maxBytes)));
  }

  end(): void {
    const text = Buffer.concat(this.#pieces).toString();
    const { res } = this;
    this.#finish("ended", {
      status: res.statusCode,
      headers: headersOf(res),
      cookies: cookiesOf(res),
      text,
      bytes: this.#size,
    });
  }

  destroy(): void {
    this.#finish("destroyed", failure(internal()));
  }

  #finish(state: "ended" | "destroyed", answer: InnerAnswer): void {
    if (this.state === "ended" || this.state === "destroyed") return;
    this.state = state;
    // Node sets `destroyed` on each response, so a getter of the prototype would have no effect.
    this.res.destroyed = state === "destroyed";
    this.#resolve(answer);
    queueMicrotask(() => {
      if (state === "ended") this.res.emit("finish");
      this.res.emit("close");
    });
  }
}

const captured = new WeakMap<object, CapturedResponse>();

function capturedBy(res: object): CapturedResponse {
  return captured.get(res) as CapturedResponse;
}

const CAPTURING = {
  // With this method and no socket, a response would seem to wait for earlier answers, and would never be sent.
  assignSocket: undefined,
  write(chunk: unknown, encoding: unknown) {
    capturedBy(this).take(chunk, encoding);
    return true;
  },
  end(chunk: unknown, encoding: unknown) {
    capturedBy(this).take(chunk, encoding);
    capturedBy(this).end();
    return this;
  },
  destroy() {
    capturedBy(this).destroy();
    return this;
  },
  get headersSent() {
    return capturedBy(this).state !== "new";
  },
  get writableEnded() {
    return capturedBy(this).state === "ended";
  },
  get writableFinished() {
    return capturedBy(this).state === "ended";
  },
};

const prototypes = new WeakMap<object, object>();

/** Defining the methods on each response would take several times as long as its other work. */
function capturingPrototype(outer: Response): object {
  const own = Object.getPrototypeOf(outer);
  const known = prototypes.get(own) ??
    Object.create(own, Object.getOwnPropertyDescriptors(CAPTURING));
  prototypes.set(own, known);
  return known;
}

function headersOf(res: Response): Record<string, string> {
  const all = Object.entries(res.getHeaders()).filter(([name]) => name !== COOKIES);
  return Object.fromEntries(all.map(([name, value]) => [name, [value].flat().join(", ")]));
}

function cookiesOf(res: Response): string[] {
  return [res.getHeader(COOKIES) ?? []].flat().map(String);
}

const COOKIES = "set-cookie";

function failure({ status, body }: RestError): InnerAnswer {
  const text = toJson(body);
  const headers = { "content-type": "application/json" };
  return { status, headers, cookies: [], text, bytes: Buffer.byteLength(text) };
}

function tooLong(limit: number): RestError {
  const message = `The answer is longer than ${limit} bytes: ask for less`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit });
}
