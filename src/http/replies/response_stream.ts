import type { Response } from "express-types";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { isOver } from "../../pipeline/request/reply.ts";
import { onLeave } from "./on_leave.ts";

/** How much is written at a time. */
const PIECE = 64 * 1024;

/** Writes an answer piece by piece at the pace of the client, until the client leaves. */
export class ResponseStream {
  readonly #res: Response;
  #begun = false;
  #wake: () => void = () => {};
  #stopListening: (() => void) | undefined;

  constructor(res: Response) {
    this.#res = res;
  }

  /** Whether this stream has sent the headers of the answer. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Whether the client is there, and no hook answers in the place of this stream. */
  get isOpen(): boolean {
    return !isOver(this.#res.req as FrameworkRequest) && !this.isTaken;
  }

  /** Whether a hook has begun an answer and not ended it. */
  get isTaken(): boolean {
    return !this.#begun && this.#res.headersSent && !this.#res.writableEnded;
  }

  /** Writes bytes; returns when the client has taken what was written, or has left. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let start = 0; start < bytes.length; start += PIECE) {
      if (!this.isOpen) return;
      this.#begun = true;
      if (!this.#res.write(bytes.subarray(start, start + PIECE))) await this.#drained();
    }
  }

  /** Ends the answer. */
  end(bytes?: Uint8Array): void {
    if (this.isOpen) this.#res.end(bytes);
    this.release();
  }

  /** Takes the listeners off. */
  release(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  #drained(): Promise<void> {
    this.#listen();
    return new Promise((resolve) => {
      this.#wake = resolve;
      if (!this.isOpen) resolve();
    });
  }

  /** Listens once for all waits: middleware that compresses never takes listeners off. */
  #listen(): void {
    if (this.#stopListening !== undefined) return;
    const res = this.#res;
    const wake = () => this.#wake();
    const stay = onLeave(res.req.socket, wake);
    res.on("drain", wake).on("close", wake);
    this.#stopListening = () => {
      stay();
      res.off("drain", wake).off("close", wake);
    };
  }
}
