import type { Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";

/** Pauses the stream after each chunk, so that a fast client cannot fill the memory. */
export class BodyChunks {
  readonly #stream: Readable;
  readonly #chunks: Uint8Array[] = [];
  #isEnded: boolean;
  #error: unknown;
  #wake: () => void = () => {};

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#isEnded = stream.readableEnded;
    stream.on("data", this.#onData).on("end", this.#onEnd).pause();
  }

  /** `null` at the end of the body, `undefined` after the time limit or `wake()`. */
  async next(timeoutMS: number): Promise<Uint8Array | null | undefined> {
    if (this.#chunks.length === 0 && !this.#isEnded && this.#error === undefined) {
      await this.#wait(timeoutMS);
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return chunk;
    if (this.#error !== undefined) throw this.#error;
    return this.#isEnded ? null : undefined;
  }

  /** Ends the wait of `next()` when the server closes, so that an import stores the lines that it already has. */
  wake(): void {
    this.#wake();
  }

  fail(error: unknown): void {
    if (!this.#isEnded) this.#error ??= error;
    this.#wake();
  }

  leave(): void {
    this.#stream.off("data", this.#onData).off("end", this.#onEnd);
    this.#chunks.length = 0;
  }

  async #wait(timeoutMS: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      if (timeoutMS !== Infinity) timer = setTimeout(resolve, Math.max(0, timeoutMS));
      this.#stream.resume();
    });
    clearTimeout(timer);
  }

  readonly #onData = (chunk: Uint8Array): void => {
    this.#stream.pause();
    this.#chunks.push(chunk);
    this.#wake();
  };

  readonly #onEnd = (): void => {
    this.#isEnded = true;
    this.#wake();
  };
}
