import { Buffer } from "node:buffer";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** The bytes that stand in a JSON string as they are. */
const PLAIN = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte > 0x7e ? 0 : 1,
);

const HEX = new Uint8Array(Buffer.from("0123456789abcdef", "latin1"));

/** A buffer of JSON text that grows as it is written. */
export class JsonWriter {
  /** The bytes; those up to `length` are written. */
  bytes: Buffer<ArrayBuffer>;
  /** How many bytes are written. */
  length = 0;

  /** @param size The bytes to begin with. */
  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  /** What is written. */
  get written(): Buffer<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  /** Makes room for more bytes. */
  reserve(count: number): void {
    if (this.length + count > this.bytes.length) this.#grow(count);
  }

  /** Apart from its check, which is made for every value, so that the check stays small. */
  #grow(count: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + count));
    larger.set(this.written);
    this.bytes = larger;
  }

  /** Writes one byte, for which there must be room. */
  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** Writes bytes that are JSON text already, for which there must be room. */
  raw(text: Uint8Array): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i] as number;
    this.length = at;
  }

  /** Writes characters that are ASCII and need no escape. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  /** Writes text that is JSON already, whatever is in it. */
  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Writes UTF-8 text of another buffer as a JSON string. */
  string(source: Buffer, start: number, end: number): void {
    this.reserve(end - start + 2);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let i = start; i < end; i++) {
      const byte = source[i] as number;
      if (PLAIN[byte] === 0) return this.#escaped(source, start, end);
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.length = at;
  }

  /** Writes bytes as lower-case hexadecimal digits, for which there must be room. */
  hex(source: Buffer, start: number, end: number): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = start; i < end; i++) {
      const byte = source[i] as number;
      bytes[at++] = HEX[byte >> 4] as number;
      bytes[at++] = HEX[byte & 15] as number;
    }
    this.length = at;
  }

  /** Text with escapes, or beyond ASCII: the runtime knows how, and replaces what is no UTF-8. */
  #escaped(source: Buffer, start: number, end: number): void {
    this.text(JSON.stringify(source.toString("utf8", start, end)));
  }
}
