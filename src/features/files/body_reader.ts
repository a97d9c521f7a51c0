import { clearTimeout, setTimeout } from "node:timers";
import type { Request } from "express-types";
import { badFormat } from "../../errors/refusals.ts";
import { overloaded } from "../../pipeline/failures.ts";
import { isEmpty } from "../../filter/filters.ts";
import { BodyChunks } from "../../http/body_chunks.ts";
import { isClosing } from "../../http/close_server.ts";
import { onServerClose } from "../../http/replies/server_close.ts";

/** A source of the bytes of an uploaded file. `next()` returns `undefined` after the last bytes. */
export interface ByteSource {
  next(): Promise<Uint8Array | undefined>;
}

/**
 * The time for which the rest of a refused upload is received, in milliseconds, so that a client that still sends can
 * read the answer.
 */
const REST_MS = 5000;

/**
 * Whether code of the application, such as a body parser, has already read the body of a request. An upload fails with
 * an error in this case, because its bytes cannot be read again.
 */
export function isConsumed({ body, headers, readableDidRead, readableEnded }: Request): boolean {
  const isParsed = body !== undefined && !(typeof body === "object" && isEmpty({ ...body }));
  return isParsed || headers["content-length"] !== "0" && (readableDidRead || readableEnded);
}

/** The body of an upload, which is read as bytes. If the server closes during the upload, `next()` throws a 503. */
export class BodyReader implements ByteSource {
  readonly #chunks: BodyChunks;
  readonly #timeoutMS: number;
  readonly #stopListening: () => void;

  /** @param timeoutMS The time in which the client must send the next bytes, in milliseconds. */
  constructor(req: Request, timeoutMS: number) {
    if (isConsumed(req)) {
      throw new Error(
        "Cannot read the bytes of the file: a parser of the application has read them. " +
          "Mount the parser after the framework, or only for other media types",
      );
    }
    this.#timeoutMS = timeoutMS;
    const chunks = this.#chunks = new BodyChunks(req);
    const onClose = () => chunks.fail(badFormat("The body has ended early"));
    if (req.destroyed) onClose();
    req.on("error", onClose).on("close", onClose);
    const end = () => chunks.fail(overloaded("The server is closing"));
    this.#stopListening = onServerClose(req, end);
    if (req.res !== undefined && isClosing(req.res)) end();
  }

  async next(): Promise<Uint8Array | undefined> {
    const chunk = await this.#chunks.next(this.#timeoutMS);
    if (chunk === undefined) throw badFormat("The body has not arrived in time");
    return chunk ?? undefined;
  }

  leave(): void {
    this.#stopListening();
    this.#chunks.leave();
  }
}

/**
 * Receives and discards the rest of the body of a refused upload. The connection ends after a few seconds, because a
 * client could otherwise send without an end.
 */
export function discardBody(req: Request): void {
  if (req.readableEnded || req.destroyed) return;
  const timer = setTimeout(() => req.socket.destroy(), REST_MS).unref();
  req.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
  req.resume();
}
