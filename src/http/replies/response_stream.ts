import type { Response } from "express-types";
import { isOver } from "../../pipeline/request/is_over.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { onLeave } from "./on_leave.ts";

/** How much is written at a time. */
const PIECE = 64 * 1024;

/** Writes an answer piece by piece at the pace of the client, and stops where nobody waits for it any more. */
export class ResponseStream {
  readonly #res: Response;
  #begun = false;
  #wake: () => void = () => {};
  #stopListening: (() => void) | undefined;

  /** @param res The response. */
  constructor(res: Response) {
    this.#res = res;
  }

  /** Whether this stream has sent the head of the answer. */
  get begun(): boolean {
    return this.#begun;
  }

  /** Whether the answer can go on: the client is there, and no hook answers in its place. */
  get isOpen(): boolean {
    return !isOver(this.#res.req as FrameworkRequest) && !this.isTaken;
  }

  /** Whether a hook has begun an answer in the place of this one, and not ended it. */
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

  /** Takes all listeners off. */
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

  /** Listens once for all waits: middleware that compresses keeps every listener. */
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
