import type { Response } from "express-types";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isOver, onConnectionClose } from "../../pipeline/request/reply.ts";
import { cutAnswer, onSendTimeout, PIECE, SlowClientError } from "./connection.ts";

/** Writes an answer piece by piece at the pace of the client, until the client leaves or is too slow. */
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

  /** Whether the client is there, and no hook answers in the place of this stream. */
  get isOpen(): boolean {
    return !isOver(this.#res.req as FrameworkRequest) && !this.isTaken;
  }

  /** Whether a hook has begun an answer that its client waits for. */
  get isTaken(): boolean {
    return !this.begun && this.#res.headersSent && !isOver(this.#res.req as FrameworkRequest);
  }

  /** Sends the head before the first bytes. */
  open(): void {
    this.begun = true;
    this.#res.flushHeaders();
  }

  /** Has middleware that compresses send the bytes that it keeps. */
  flush(): void {
    if (this.isOpen) (this.#res as { flush?: () => void }).flush?.();
  }

  /** Writes bytes; returns when the client has taken what was written, or has left. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += PIECE) {
      if (!this.isOpen) return;
      this.begun = true;
      if (!this.#res.write(bytes.subarray(start, start + PIECE))) await this.#drained();
    }
  }

  async end(bytes: Uint8Array = new Uint8Array()): Promise<void> {
    const whole = Math.floor(Math.max(bytes.length - 1, 0) / PIECE) * PIECE;
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

  /** Listens once for all waits: middleware that compresses never takes listeners off. */
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
