import { OutgoingMessage } from "node:http";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import type { Response } from "express-types";
import { freeMemory } from "../../database/lists/owned_memory.ts";
import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import { hasEnded } from "../../pipeline/request/ended.ts";
import { isOver } from "../../pipeline/request/reply.ts";
import { cutAnswer } from "./cut_answer.ts";
import { onLeave } from "./on_leave.ts";
import { afterPatience, SlowClientError } from "./slow_client.ts";

/** How much is written at a time: a client has to take it within the time limit. */
export const PIECE = 64 * 1024;

/** The first of their kind, which few replace. */
const [writeMessage, writeStream] = [OutgoingMessage.prototype.write, Writable.prototype.write];

/** Writes an answer piece by piece at the pace of the client, until the client leaves or is too slow. */
export class ResponseStream {
  readonly #res: Response;
  readonly #timeoutMs: number;
  #late = false;
  #begun = false;
  #wake: () => void = () => {};
  #stopListening: (() => void) | undefined;

  constructor(res: Response, timeoutMs: number) {
    this.#res = res;
    this.#timeoutMs = timeoutMs;
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
    return !this.#begun && this.#res.headersSent && !hasEnded(this.#res);
  }

  /**
   * Writes bytes, whose memory is freed then if it is owned; returns when the client has taken what was written, or has left.
   *
   * @throws {SlowClientError} If the client does not take a piece in time; the answer is cut.
   */
  async write(bytes: Uint8Array): Promise<void> {
    await this.#send(bytes, (error) => {
      if (!error) freeMemory(bytes);
    });
  }

  async end(bytes: Uint8Array = new Uint8Array()): Promise<void> {
    const whole = Math.floor(Math.max(bytes.length - 1, 0) / PIECE) * PIECE;
    await this.#send(bytes.subarray(0, whole));
    if (this.isOpen) this.#res.end(bytes.subarray(whole));
    this.release();
  }

  release(): void {
    this.#stopListening?.();
    this.#stopListening = undefined;
  }

  /** Calls back when all of the bytes are with the system, if nothing else has seen them. */
  async #send(bytes: Uint8Array, onSent?: (error?: Error | null) => void): Promise<void> {
    let isUnseen = true;
    for (let start = 0; start < bytes.length; start += PIECE) {
      if (!this.isOpen) return;
      this.#begun = true;
      const end = start + PIECE;
      // A listener may replace it between two pieces
      isUnseen &&= isDirect(this.#res);
      const last = isUnseen && end >= bytes.length ? onSent : undefined;
      if (!this.#res.write(bytes.subarray(start, end), last)) await this.#drained();
    }
  }

  async #drained(): Promise<void> {
    this.#listen();
    await new Promise<void>((resolve) => {
      const stop = afterPatience(this.#timeoutMs, () => {
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
    if (this.#late) throw new SlowClientError(this.#res.req, this.#timeoutMs);
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

/** Whether bytes go to the system at once: middleware, and a stream in the place of a socket, may hold them. */
function isDirect({ write, socket }: Response): boolean {
  return write === writeMessage && socket instanceof Socket && socket.write === writeStream;
}
