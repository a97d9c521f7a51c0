import type { Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";

/**
 * A long body of a request, such as an uploaded file or an import, which is read in chunks. The stream is paused after
 * each chunk, so that a fast client cannot fill the memory.
 */
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

  /**
   * Returns the next chunk of the body, or `null` at its end. Returns `undefined` if no chunk has come within
   * `timeoutMS`, or if `wake()` is called during the wait.
   */
  async next(timeoutMS: number): Promise<Uint8Array | null | undefined> {
    if (this.#chunks.length === 0 && !this.#isEnded && this.#error === undefined) {
      await this.#wait(timeoutMS);
    }
    const chunk = this.#chunks.shift();
    if (chunk !== undefined) return chunk;
    if (this.#error !== undefined) throw this.#error;
    return this.#isEnded ? null : undefined;
  }

  /**
   * Makes a waiting `next()` return at once. An import calls this method when the server closes, so that it can store
   * the lines that it already has.
   */
  wake(): void {
    this.#wake();
  }

  /**
   * Makes `next()` throw an error after the chunks that have already come, for example because the client has
   * disconnected. Has no effect if the whole body has come.
   */
  fail(error: unknown): void {
    if (!this.#isEnded) this.#error ??= error;
    this.#wake();
  }

  /** Stops reading the body and drops the chunks that were not read. */
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
