import { clearTimeout, setTimeout } from "node:timers";
import type { Request } from "express-types";
import { badFormat, overloaded } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { isEmpty } from "../../filter/filters.ts";
import { isClosing } from "../../http/close_server.ts";
import { onServerClose } from "../../http/replies/server_close.ts";

/** A source of bytes. `next()` returns `undefined` after the last bytes. */
export interface ByteSource {
  next(): Promise<Uint8Array | undefined>;
}

/** The time for which the rest of a refused body is received, so that a client that still sends can read the answer. */
const REST_MS = 5000;

/** Whether code of the application has read the body of a request already, such as a body parser. */
function isConsumed({ body, headers, readableDidRead, readableEnded }: Request): boolean {
  const isParsed = body !== undefined && !(typeof body === "object" && isEmpty({ ...body }));
  return isParsed || headers["content-length"] !== "0" && (readableDidRead || readableEnded);
}

/**
 * The reader of the bytes of a body. The connection is paused after each chunk, so that a fast client cannot fill the
 * memory. A server that closes ends the reading with a 503.
 */
export class BodyReader implements ByteSource {
  readonly #req: Request;
  readonly #timeoutMS: number;
  readonly #chunks: Uint8Array[] = [];
  #isEnded = false;
  #error: unknown;
  readonly #stopListening: () => void;
  #wake: () => void = () => {};

  /** @param timeoutMS The time in which the client must send the next bytes. */
  constructor(req: Request, timeoutMS: number) {
    if (isConsumed(req)) {
      throw new Error(
        "Cannot read the bytes of the file: a parser of the application has read them. " +
          "Mount the parser after the framework, or only for other media types",
      );
    }
    this.#req = req;
    this.#timeoutMS = timeoutMS;
    this.#isEnded = req.headers["content-length"] === "0";
    if (req.destroyed) this.#onClose();
    const end = () => this.#fail(overloaded("The server is closing"));
    this.#stopListening = onServerClose(req, end);
    if (req.res !== undefined && isClosing(req.res)) end();
    req.on("error", this.#onClose).on("close", this.#onClose);
    req.on("data", this.#onData).on("end", this.#onEnd).pause();
  }

  async next(): Promise<Uint8Array | undefined> {
    const isWaiting = () =>
      this.#chunks.length === 0 && !this.#isEnded && this.#error === undefined;
    if (isWaiting()) await this.#wait();
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return chunk;
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /** Stops reading. */
  leave(): void {
    this.#stopListening();
    this.#req.off("data", this.#onData).off("end", this.#onEnd);
    this.#chunks.length = 0;
  }

  async #wait(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(
        () => this.#fail(badFormat("The body has not arrived in time")),
        this.#timeoutMS,
      );
      this.#req.resume();
    });
    clearTimeout(timer);
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#req.pause();
    this.#chunks.push(chunk);
    this.#wake();
  };

  readonly #onEnd = (): void => {
    this.#isEnded = true;
    this.#wake();
  };

  readonly #onClose = (): void => {
    this.#fail(badFormat("The body has ended early"));
  };

  /** Ends the reading by an error, unless the whole body has arrived. */
  #fail(error: RestError): void {
    if (!this.#isEnded) this.#error ??= error;
    this.#wake();
  }
}

/**
 * Receives and discards the rest of a body. The connection ends after a short time, because a client could otherwise
 * send without an end.
 */
export function discardBody(req: Request): void {
  if (req.readableEnded || req.destroyed) return;
  const timer = setTimeout(() => req.socket.destroy(), REST_MS).unref();
  req.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
  req.resume();
}
