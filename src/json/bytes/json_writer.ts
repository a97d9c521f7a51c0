import { Buffer } from "node:buffer";
import type { BsonReader } from "./bson_reader.ts";

/** A chunk of a long answer is sent at this size. */
export const PIECE_BYTES = 64 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OBJECT = 0x7b;
const ARRAY = 0x5b;

const UNESCAPED = Uint8Array.from(
  { length: 256 },
  (_, byte) => byte < 0x20 || byte === QUOTE || byte === BACKSLASH || byte > 0x7e ? 0 : 1,
);

const HEX = new Uint8Array(Buffer.from("0123456789abcdef", "latin1"));

/** Some methods do not check the size of the buffer, so the caller must call `reserve()` before. */
export class JsonWriter {
  bytes: Buffer<ArrayBuffer>;
  length = 0;

  constructor(size: number) {
    this.bytes = Buffer.allocUnsafe(size);
  }

  get written(): Buffer<ArrayBuffer> {
    return this.bytes.subarray(0, this.length);
  }

  reserve(count: number): void {
    if (this.length + count > this.bytes.length) this.#grow(count);
  }

  /** A separate method, so that JavaScript engines can inline `reserve()`. */
  #grow(count: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(this.bytes.length * 2, this.length + count));
    larger.set(this.written);
    this.bytes = larger;
  }

  /** Needs a reserved byte. */
  byte(value: number): void {
    this.bytes[this.length++] = value;
  }

  /** Needs `count` reserved bytes. */
  digits(value: number, count: number): void {
    const { bytes, length } = this;
    let rest = value;
    for (let at = length + count - 1; at >= length; at--) {
      bytes[at] = 0x30 + rest % 10;
      rest = (rest / 10) | 0;
    }
    this.length = length + count;
  }

  /** Needs as many reserved bytes as the text has. */
  raw(text: Uint8Array): void {
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text[i] as number;
    this.length = at;
  }

  copy(text: Uint8Array): void {
    this.reserve(text.length);
    this.bytes.set(text, this.length);
    this.length += text.length;
  }

  /** The text must be valid JSON, because nothing is escaped. */
  ascii(text: string): void {
    this.reserve(text.length);
    const { bytes } = this;
    let at = this.length;
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i);
    this.length = at;
  }

  text(text: string): void {
    this.reserve(text.length * 3);
    this.length += this.bytes.write(text, this.length, "utf8");
  }

  /** Needs a reserved byte. */
  comma(): void {
    const last = this.bytes[this.length - 1];
    if (last !== OBJECT && last !== ARRAY) this.bytes[this.length++] = COMMA;
  }

  string(from: BsonReader, end: number): void {
    const { bytes: source } = from;
    this.reserve(end - from.at + 2);
    const { bytes } = this;
    let at = this.length;
    bytes[at++] = QUOTE;
    for (let i = from.at; i < end; i++) {
      const byte = source[i] as number;
      if (UNESCAPED[byte] === 0) return this.#escaped(from, end);
      bytes[at++] = byte;
    }
    bytes[at++] = QUOTE;
    this.length = at;
    from.at = end;
  }

  /** Needs two reserved bytes for each byte of the source. */
  hex(from: BsonReader, count: number): void {
    const { bytes: source } = from;
    const { bytes } = this;
    const end = from.at + count;
    let at = this.length;
    for (let i = from.at; i < end; i++) {
      const byte = source[i] as number;
      bytes[at++] = HEX[byte >> 4] as number;
      bytes[at++] = HEX[byte & 15] as number;
    }
    this.length = at;
    from.at = end;
  }

  /** Bytes that are not UTF-8 are replaced, so the JSON text is always valid UTF-8. */
  #escaped(from: BsonReader, end: number): void {
    this.text(JSON.stringify(from.bytes.toString("utf8", from.at, end)));
    from.at = end;
  }
}

export type JsonPiece = string | Uint8Array;

/** A line break can separate values, because compact JSON text contains none. */
export type Separator = "," | "\n";

export function enclosed(text: JsonPiece, { open = "", close = "" }): Buffer {
  return typeof text === "string"
    ? Buffer.from(`${open}${text}${close}`)
    : Buffer.concat([Buffer.from(open), text, Buffer.from(close)]);
}
