/** Follows a body through the buffers that it arrives in, and tells where it ends. */
export interface BodyMeter {
  /** How many bytes of the body have come. */
  readonly bytes: number;
  /**
   * Takes what has arrived.
   *
   * @returns Whether the body has ended.
   */
  take(buffer: Uint8Array): boolean;
}

/** A body with a length. */
export class SizedBody implements BodyMeter {
  readonly #length: number;
  bytes = 0;

  constructor(length: number) {
    this.#length = length;
  }

  take(buffer: Uint8Array): boolean {
    this.bytes += buffer.length;
    return this.bytes >= this.#length;
  }
}

const LINE_FEED = 10;
const DIGITS = /^[0-9a-f]+/i;

/** A body in chunks: a line with the length, the bytes, an empty line; one without bytes is the last. */
export class ChunkedBody implements BodyMeter {
  bytes = 0;
  /** Bytes of the chunk, and of the line end behind it, that have yet to come. */
  #left = 0;
  #line = "";
  #isLast = false;

  take(buffer: Uint8Array): boolean {
    let offset = 0;
    while (offset < buffer.length) {
      offset = this.#left > 0 ? this.#skip(buffer, offset) : this.#readLine(buffer, offset);
      if (this.#isLast && this.#left === 0) return true;
    }
    return false;
  }

  #skip(buffer: Uint8Array, offset: number): number {
    const step = Math.min(this.#left, buffer.length - offset);
    this.#left -= step;
    return offset + step;
  }

  #readLine(buffer: Uint8Array, offset: number): number {
    const end = buffer.indexOf(LINE_FEED, offset);
    const stop = end === -1 ? buffer.length : end + 1;
    this.#line += String.fromCharCode(...buffer.subarray(offset, stop));
    if (end === -1) return stop;
    const length = parseInt(DIGITS.exec(this.#line)?.[0] ?? "", 16);
    if (Number.isNaN(length)) throw new Error("Cannot read a body: a chunk has no length");
    this.#line = "";
    this.#isLast = length === 0;
    this.bytes += length;
    this.#left = length + 2;
    return stop;
  }
}
