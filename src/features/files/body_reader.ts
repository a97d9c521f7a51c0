import { clearTimeout, setTimeout } from "node:timers";
import type { Request } from "express-types";
import { badFormat } from "../../errors/refusals.ts";
import { overloaded } from "../../pipeline/failures.ts";
import { isEmpty } from "../../filter/filters.ts";
import { BodyChunks } from "../../http/body_chunks.ts";
import { isClosing } from "../../http/close_server.ts";
import { onServerClose } from "../../http/replies/server_close.ts";

export interface ByteSource {
  next(): Promise<Uint8Array | undefined>;
}

/** Many clients read an answer only after sending the whole body, so the rest is read for this time. */
const REST_MS = 5000;

export function isConsumed({ body, headers, readableDidRead, readableEnded }: Request): boolean {
  const isParsed = body !== undefined && !(typeof body === "object" && isEmpty({ ...body }));
  return isParsed || headers["content-length"] !== "0" && (readableDidRead || readableEnded);
}

export class BodyReader implements ByteSource {
  readonly #chunks: BodyChunks;
  readonly #timeoutMS: number;
  readonly #stopListening: () => void;

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

export function discardBody(req: Request): void {
  if (req.readableEnded || req.destroyed) return;
  const timer = setTimeout(() => req.socket.destroy(), REST_MS).unref();
  req.once("close", () => clearTimeout(timer)).once("end", () => clearTimeout(timer));
  req.resume();
}
