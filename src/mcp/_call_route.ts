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
  /** The identifier in the path, where the path has one. */
  readonly id?: string | undefined;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object | undefined;
  /** Whether it asks for the description of the route in the place of its answer. */
  readonly describes?: boolean;
}

export interface RouteAnswer {
  readonly status: number;
  /** The parsed JSON; `undefined` for an empty answer. */
  readonly body: unknown;
  readonly header: (name: string) => string | undefined;
}

/** The longest answer, in bytes: it takes several times as much of memory on its way to an assistant. */
const MAX_BYTES = 1_000_000;

/** Headers of the caller's request that are about its own body, its connection or its conditions. */
const OWN_HEADERS =
  /^(accept|accept-encoding|connection|content-.*|expect|idempotency-key|if-.*|keep-alive|last-event-id|mcp-.*|prefer|proxy-.*|range|te|trailer|transfer-encoding|upgrade)$/;

/**
 * Sends a request of the caller through the router of an API: with his connection, his headers and all that middleware has
 * put on his own request.
 *
 * @throws What the router passes on as an error of the host.
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

/** A request of its own, behind which the caller's stands: what hooks put on it stays there, however long they run. */
function innerRequest(req: Request, call: RouteCall): Request {
  const { exposed: { mounted, route }, id = "", body, describes = false } = call;
  const { query = new URLSearchParams() } = call;
  const path = mounted.path.replace("/:id", () => `/${encodeURIComponent(id)}`);
  const url = query.size === 0 ? path : `${path}?${query}`;
  const kept = Object.entries(req.headers).filter(([name]) => !OWN_HEADERS.test(name));
  const given = body && { "content-type": "application/json", "transfer-encoding": "chunked" };
  const headers = { ...Object.fromEntries(kept), accept: "application/json" };
  const own = {
    ...{ url, originalUrl: `${req.baseUrl}${url}`, method: mounted.operation.verb.toUpperCase() },
    ...{ headers: { ...headers, ...given, ...call.headers }, body },
    // Middleware may have kept the parameters of the caller's own URL under this name.
    query: Object.fromEntries(query),
  };
  const inner: Request = Object.create(req, Object.getOwnPropertyDescriptors(own));
  // Without this, listeners would be those of the caller's request.
  Reflect.apply(EventEmitter, inner, []);
  innerRequests.set(inner, { mounted, route, describes });
  return inner;
}

/** A response that is kept in memory: as if its client read at once. */
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
      // The connection sends another response: this one must not wait for it.
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

/** An answer that a hook has sent by itself need not be JSON. */
function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
