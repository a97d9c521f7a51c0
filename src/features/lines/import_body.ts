import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import type { Request } from "express-types";
import { refusal } from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { BodyChunks } from "../../http/body_chunks.ts";

interface ImportOptions {
  readonly signal: AbortSignal;
  readonly maxImportBytes: number;
}

/** A gzip body may grow by this factor. With more, a few bytes could cause much work. */
const MAX_INFLATION = 100;

/** Up to this size, a body may grow by any factor, because it causes little work. */
const FREE_INFLATION = 10 * 1024 * 1024;

export function openBody(req: Request, options: ImportOptions): ImportBody {
  if (req.body !== undefined || req.readableEnded) {
    throw new Error("Cannot read the lines of the body: a parser of the application has read them");
  }
  const { maxImportBytes } = options;
  if (Number(req.headers["content-length"]) > maxImportBytes) throw tooLarge(maxImportBytes);
  refuseOtherCharset(req);
  const encoding = req.headers["content-encoding"] ?? "identity";
  if (encoding !== "identity" && encoding !== "gzip") {
    throw refusal("UNSUPPORTED_MEDIA_TYPE", { message: `The Content-Encoding is not "gzip"` });
  }
  return new ImportBody(req, { ...options, isCompressed: encoding === "gzip" });
}

function refuseOtherCharset({ headers }: Request): void {
  const [, charset = "utf-8"] = /;\s*charset="?([^";]+)/i.exec(headers["content-type"] ?? "") ?? [];
  if (/^(utf-8|us-ascii)$/i.test(charset.trim())) return;
  throw refusal("UNSUPPORTED_MEDIA_TYPE", { message: "The charset is not UTF-8" });
}

function tooLarge(limit: number): RestError {
  const message = `The body is larger than ${limit} bytes: send it in several requests`;
  return refusal("PAYLOAD_TOO_LARGE", { message, limit });
}

export class ImportBody {
  readonly #req: Request;
  readonly #source: Readable;
  readonly #chunks: BodyChunks;
  readonly #options: ImportOptions;
  readonly #isCompressed: boolean;
  #received = 0;
  #inflated = 0;
  readonly #stopListening: () => void;

  constructor(
    req: Request,
    { isCompressed, ...options }: ImportOptions & { readonly isCompressed: boolean },
  ) {
    this.#req = req;
    this.#options = options;
    this.#isCompressed = isCompressed;
    this.#source = isCompressed ? req.pipe(createGunzip()) : req;
    if (isCompressed) req.on("data", this.#onReceived);
    const chunks = this.#chunks = new BodyChunks(this.#source);
    const onError = (error: unknown) => chunks.fail(error);
    // Without a listener, a decompression error after the last read would end the process.
    this.#source.on("error", onError);
    req.on("error", onError).on("close", this.#onClose);
    const wake = () => chunks.wake();
    options.signal.addEventListener("abort", wake);
    this.#stopListening = () => options.signal.removeEventListener("abort", wake);
  }

  /** `undefined` if no chunk has come in time, so that the caller stores its lines. */
  async next(dueAt: number): Promise<Uint8Array | null | undefined> {
    const { signal } = this.#options;
    const chunk = await this.#chunks.next(signal.aborted ? 0 : dueAt - performance.now());
    return chunk && this.#checked(chunk);
  }

  /** Discards the rest of the body, which many clients send before they read the answer. */
  leave(): void {
    this.#stopListening();
    this.#chunks.leave();
    this.#req.off("data", this.#onReceived).off("close", this.#onClose);
    if (this.#isCompressed) {
      this.#req.unpipe();
      this.#source.destroy();
    }
    this.#req.resume();
  }

  #checked(chunk: Uint8Array): Uint8Array {
    const { maxImportBytes } = this.#options;
    this.#inflated += chunk.length;
    if (this.#inflated > maxImportBytes) throw tooLarge(maxImportBytes);
    const most = Math.max(FREE_INFLATION, this.#received * MAX_INFLATION);
    if (!this.#isCompressed || this.#inflated <= most) return chunk;
    const message = `The body is more than ${MAX_INFLATION} times larger than its compressed bytes`;
    throw refusal("PAYLOAD_TOO_LARGE", { message, limit: most });
  }

  readonly #onReceived = (chunk: Uint8Array): void => {
    this.#received += chunk.length;
  };

  readonly #onClose = (): void => {
    if (!this.#req.readableEnded) this.#chunks.fail(new Error("The client has left"));
  };
}
