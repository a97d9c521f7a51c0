import type { Response } from "express-types";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isOver } from "../../pipeline/request/reply.ts";
import {
  cutAnswer,
  onConnectionClose,
  onSendTimeout,
  PIECE,
  SlowClientError,
} from "./connection.ts";

/** Writes an answer piece by piece at the pace of the client, until the client leaves or is too slow. */
export class ResponseStream {
  readonly #res: Response;
  readonly #timeoutMS: number;
  begun = false;
  #late = false;
  #wake: () => void = () => {};
  #stopListening: (() => void) | undefined;

  constructor(res: Response, timeoutMS: number) {
    this.#res = res;
    this.#timeoutMS = timeoutMS;
  }

  /** Whether the client is there, and no hook answers in the place of this stream. */
  get isOpen(): boolean {
    return !this.#isOver && !this.isTaken;
  }

  /** Whether a hook has begun an answer that its client waits for. */
  get isTaken(): boolean {
    return !this.begun && this.#res.headersSent && !this.#isOver;
  }

  get #isOver(): boolean {
    return isOver(this.#res.req as FrameworkRequest);
  }

  /**
   * Writes bytes; returns when the client has taken what was written, or has left.
   *
   * @throws {SlowClientError} If the client does not take a piece in time; the answer is cut.
   */
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
    await new Promise<void>((resolve) => {
      const stop = onSendTimeout(this.#timeoutMS, () => {
        this.#late = true;
        void cutAnswer(this.#res);
        this.#wake();
      });
      this.#wake = () => {
        stop();
        resolve();
      };
      if (!this.isOpen) this.#wake();
    });
    if (this.#late) throw new SlowClientError(this.#res.req, this.#timeoutMS);
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
