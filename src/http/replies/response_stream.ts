import type { Response } from "express-types";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isOver, onConnectionClose } from "../../pipeline/request/response.ts";
import { PIECE_BYTES } from "../../json/bytes/json_writer.ts";
import { cutAnswer, onSendTimeout, SlowClientError } from "./connection.ts";

/** Each write waits until the client has read, so that no long answer is in memory as a whole. */
export class ResponseStream {
  readonly #res: Response;
  readonly #timeoutMS: number;
  begun = false;
  #wake: () => void = () => {};
  #stopListening: (() => void) | undefined;

  constructor(res: Response, timeoutMS: number) {
    this.#res = res;
    this.#timeoutMS = timeoutMS;
  }

  get isOpen(): boolean {
    return !isOver(this.#res.req as FrameworkRequest) && !this.isTaken;
  }

  /**
   * Whether a hook has begun an answer without ending it. The caller cuts the connection, or else the client would wait
   * for the rest.
   */
  get isTaken(): boolean {
    return !this.begun && this.#res.headersSent && !isOver(this.#res.req as FrameworkRequest);
  }

  open(): void {
    this.begun = true;
    this.#res.flushHeaders();
  }

  /** Compression middleware holds bytes back, but the client needs results during an import. */
  flush(): void {
    if (this.isOpen) (this.#res as { flush?: () => void }).flush?.();
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      if (!this.isOpen) return;
      this.begun = true;
      if (!this.#res.write(bytes.subarray(start, start + PIECE_BYTES))) await this.#drained();
    }
  }

  async end(bytes: Uint8Array = new Uint8Array()): Promise<void> {
    const whole = Math.floor(Math.max(bytes.length - 1, 0) / PIECE_BYTES) * PIECE_BYTES;
    await this.write(bytes.subarray(0, whole));
    if (this.isOpen) this.#res.end(bytes.subarray(whole));
    this.release();
  }

  release(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  async #drained(): Promise<void> {
    this.#listen();
    await new Promise<void>((resolve, reject) => {
      const stop = onSendTimeout(this.#timeoutMS, () => {
        reject(new SlowClientError(this.#res.req, this.#timeoutMS));
        void cutAnswer(this.#res);
      });
      this.#wake = () => {
        stop();
        resolve();
      };
      if (!this.isOpen) this.#wake();
    });
  }

  /** Compression middleware does not remove listeners: new listeners for each wait would fill the memory. */
  #listen(): void {
    if (this.#stopListening !== undefined) return;
    const res = this.#res;
    const wake = () => this.#wake();
    const stop = onConnectionClose(res.req.socket, wake);
    res.on("drain", wake).on("close", wake);
    this.#stopListening = () => {
      stop();
      res.off("drain", wake).off("close", wake);
    };
  }
}
