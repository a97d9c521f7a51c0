import { Buffer } from "node:buffer";
import { MAX_LINE, tooLong } from "./body_parser.ts";

const FIRST_BYTES = 1024;

const EMPTY = Buffer.alloc(0);

/**
 * Copies bytes out of chunks: a client can send single bytes as chunks, which need several hundred times the memory.
 */
export class BegunLine {
  #bytes: Buffer = EMPTY;
  #size = 0;

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  add(part: Uint8Array): void {
    const size = this.#size + part.length;
    if (size > MAX_LINE) throw tooLong();
    if (size > this.#bytes.length) {
      const longer = Buffer.allocUnsafe(Math.max(FIRST_BYTES, size, 2 * this.#bytes.length));
      this.#bytes.copy(longer, 0, 0, this.#size);
      this.#bytes = longer;
    }
    this.#bytes.set(part, this.#size);
    this.#size = size;
  }

  end(part: Uint8Array): Buffer {
    if (this.isEmpty && part.length <= MAX_LINE) {
      return Buffer.from(part.buffer, part.byteOffset, part.length);
    }
    this.add(part);
    const bytes = this.#bytes.subarray(0, this.#size);
    this.#bytes = EMPTY;
    this.#size = 0;
    return bytes;
  }
}
