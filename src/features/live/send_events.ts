import type { Response } from "express-types";
import { Buffer } from "node:buffer";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { overloaded } from "../../pipeline/failures.ts";
import { limitsOf, type LiveLimits } from "./live_limits.ts";
import { type EventSender, Subscription } from "./subscription.ts";
import type { Call } from "../../pipeline/request/request_context.ts";
import { isOver, onConnectionClose } from "../../pipeline/request/response.ts";
import { cutAnswer } from "../../http/replies/connection.ts";
import { onServerClose } from "../../http/replies/server_close.ts";

export const EVENT_STREAM = "text/event-stream";

/** Less than the usual time-outs of proxies for idle streams. */
const HEARTBEAT_MS = 15_000;

const HEARTBEAT = ":\n\n";

let openCount = 0;

export async function sendEvents(
  res: Response,
  { call, max }: { readonly call: Call; readonly max: number },
): Promise<void> {
  const { route, req } = call;
  if (isOver(req)) return;
  if (openCount >= limitsOf(route).maxSubscribers) throw overloaded("Too many live lists are open");
  const stream = new EventStream(res, { call, max });
  try {
    await stream.open();
    await stream.ended;
  } finally {
    stream.end();
  }
  if (stream.isBegun || isOver(req)) return;
  if (res.headersSent) await cutAnswer(res);
  else throw overloaded("The server is closing");
}

/** Drops bytes for a slow client beyond `maxUnsentBytes` to save memory, and sends the whole list later. */
class EventStream implements EventSender {
  readonly #res: Response;
  readonly #live: Required<LiveLimits>;
  readonly #call: Call;
  readonly #subscription: Subscription;
  #resolve: () => void = () => {};
  readonly ended = new Promise<void>((resolve) => this.#resolve = resolve);
  #queue: Uint8Array[] = [];
  #queued = 0;
  #most: number;
  /** Nothing is written until the client has received a part of the buffer. */
  #isFull = false;
  #isBehind = false;
  isBegun = false;
  #isEnded = false;
  #heartbeat: ReturnType<typeof setInterval> | undefined;
  #age: ReturnType<typeof setTimeout> | undefined;
  readonly #stopListening: () => void;

  constructor(
    res: Response,
    { call, max }: { readonly call: Call; readonly max: number },
  ) {
    this.#res = res;
    this.#live = limitsOf(call.route);
    this.#call = call;
    this.#most = this.#live.maxUnsentBytes;
    this.#subscription = new Subscription(call, { sender: this, max });
    openCount++;
    const drain = () => this.#drained();
    const end = () => this.end();
    const stop = onConnectionClose(res.req.socket, end);
    const stopWaiting = onServerClose(res.req, end);
    res.on("drain", drain).on("close", end);
    this.#stopListening = () => {
      stopWaiting();
      stop();
      res.off("drain", drain).off("close", end);
    };
  }

  open(): Promise<void> {
    return this.#subscription.open(this.#call);
  }

  send(pieces: readonly Uint8Array[], isList: boolean): void {
    if (this.#isEnded || this.#isBehind && !isList) return;
    if (isOver(this.#call.req)) return this.end();
    if (!this.isBegun && !this.#begin()) return;
    this.#isBehind = false;
    for (const each of pieces) this.#queued += each.length;
    // Otherwise, a list with more bytes than the limit could never be sent.
    if (isList) this.#most = this.#live.maxUnsentBytes + this.#queued;
    this.#queue.push(...pieces);
    this.#write();
    if (this.#queued <= this.#most) return;
    this.#queue = [];
    this.#queued = 0;
    this.#isBehind = true;
  }

  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    openCount--;
    this.#stopListening();
    clearInterval(this.#heartbeat);
    clearTimeout(this.#age);
    this.#queue = [];
    this.#subscription.end();
    if (this.isBegun && !isOver(this.#res.req as FrameworkRequest)) this.#res.end();
    this.#resolve();
  }

  /** A hook may have sent another answer already. */
  #begin(): boolean {
    const res = this.#res;
    if (res.headersSent) {
      this.end();
      return false;
    }
    this.isBegun = true;
    res.status(200).setHeader("Content-Type", EVENT_STREAM);
    // Without these headers, proxies may hold events back until the end.
    res.set({ "Cache-Control": "no-store", "X-Accel-Buffering": "no" }).flushHeaders();
    ignoreHeaders(res);
    const { maxAgeMS } = this.#live;
    this.#heartbeat = setInterval(() => {
      if (this.#isFull) return;
      this.#queue.push(Buffer.from(HEARTBEAT));
      this.#queued += HEARTBEAT.length;
      this.#write();
    }, HEARTBEAT_MS).unref();
    // The time is random, so that clients do not all reconnect at once.
    this.#age = setTimeout(() => this.end(), maxAgeMS * (1 - Math.random() / 5)).unref();
    return true;
  }

  #write(): void {
    while (!this.#isFull && !this.#isEnded) {
      const bytes = this.#queue.shift();
      if (bytes === undefined) break;
      this.#queued -= bytes.length;
      this.#isFull = !this.#res.write(bytes);
    }
    if (this.#queue.length === 0) this.#most = this.#live.maxUnsentBytes;
    // Compression middleware adds `flush()`, and would hold the events back.
    (this.#res as { flush?: () => void }).flush?.();
  }

  #drained(): void {
    this.#isFull = false;
    if (!this.#isBehind) return this.#write();
    this.#subscription.sendAgain();
  }
}

/** Hooks run again for each change, and Node throws for a header after the first bytes. */
function ignoreHeaders(res: Response): void {
  const leaveOut = () => res;
  const methods = { setHeader: leaveOut, setHeaders: leaveOut, appendHeader: leaveOut };
  Object.assign(res, { ...methods, removeHeader: () => {} });
}
