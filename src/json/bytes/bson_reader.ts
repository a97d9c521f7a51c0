// BSON is little-endian. A document has an int32 length that includes itself, elements and a zero byte. An element has
// a type byte, a name with a zero byte, and a value.
import { Buffer } from "node:buffer";

/** Only Mongoose can make the JSON of the document. */
export class UnknownTypeError extends Error {
  override readonly name = "UnknownTypeError";
}

export class BsonReader {
  readonly bytes: Buffer;
  at: number;
  type = 0;

  constructor(bytes: Buffer, start = 0) {
    this.bytes = bytes;
    this.at = start;
  }

  open(): number {
    const { at } = this;
    this.at = at + 4;
    return at + readInt32(this.bytes, at);
  }

  next(end: number): boolean {
    const { at } = this;
    if (at >= end - 1) {
      this.at = end;
      return false;
    }
    this.type = this.bytes[at] as number;
    this.at = at + 1;
    return true;
  }

  nameEnd(): number {
    return endOfName(this.bytes, this.at);
  }

  isNamed(name: Uint8Array): boolean {
    const { bytes, at } = this;
    const { length } = name;
    if (bytes[at + length] !== 0) return false;
    for (let i = 0; i < length; i++) {
      if (name[i] !== bytes[at + i]) return false;
    }
    return true;
  }

  skipName(): void {
    this.at = endOfName(this.bytes, this.at) + 1;
  }

  int32(): number {
    const { at } = this;
    this.at = at + 4;
    return readInt32(this.bytes, at);
  }

  take(count: number): Buffer {
    const { at } = this;
    this.at = at + count;
    return this.bytes.subarray(at, at + count);
  }

  skip(): void {
    this.at += sizeOf(this);
  }
}

function endOfName(source: Buffer, start: number): number {
  let at = start;
  while (source[at] !== 0) at++;
  return at;
}

/** `Buffer.readInt32LE()` is slower, because it checks bounds. */
export function readInt32(source: Buffer, at: number): number {
  return (source[at] as number) | (source[at + 1] as number) << 8 |
    (source[at + 2] as number) << 16 |
    (source[at + 3] as number) << 24;
}

/** The result is inexact beyond 2^53. The caller must then read a `bigint`. */
export function readInt64(source: Buffer, at: number): number {
  return readInt32(source, at + 4) * 0x1_0000_0000 + source.readUInt32LE(at);
}

/**
 * The sizes of BSON types. -1 means a size in front of the value without itself, and -2 a size that includes itself.
 */
const SIZES: Readonly<Record<number, number>> = {
  0x01: 8,
  0x02: -1,
  0x03: -2,
  0x04: -2,
  0x06: 0,
  0x07: 12,
  0x08: 1,
  0x09: 8,
  0x0a: 0,
  0x0d: -1,
  0x0e: -1,
  0x0f: -2,
  0x10: 4,
  0x11: 8,
  0x12: 8,
  0x13: 16,
  0x7f: 0,
  0xff: 0,
};

function sizeOf({ type, bytes, at }: BsonReader): number {
  if (type === 0x05) return 5 + readInt32(bytes, at);
  if (type === 0x0b) return endOfName(bytes, endOfName(bytes, at) + 1) + 1 - at;
  if (type === 0x0c) return 16 + readInt32(bytes, at);
  const size = SIZES[type];
  if (size === undefined) throw new UnknownTypeError(`Cannot skip BSON type ${type}`);
  if (size >= 0) return size;
  return readInt32(bytes, at) + (size === -1 ? 4 : 0);
}

/** The documents are views of the bytes of the array. */
export function documentsIn(
  { array, start }: { readonly array: Buffer; readonly start: number },
): Buffer[] {
  const source = new BsonReader(array, start);
  const documents: Buffer[] = [];
  for (const end = source.open(); source.next(end);) {
    source.skipName();
    documents.push(source.take(readInt32(array, source.at)));
  }
  return documents;
}

/** The type and the name of an `_id` that is an ObjectId. */
const OBJECT_ID = [0x07, 0x5f, 0x69, 0x64, 0x00];

export function identifierIn(document: Buffer): string | undefined {
  const start = 4 + OBJECT_ID.length;
  const begins = OBJECT_ID.every((byte, index) => document[4 + index] === byte);
  return begins ? document.toString("hex", start, start + 12) : undefined;
}

const DOUBLE = 0x01;
const INT32 = 0x10;
const INT64 = 0x12;

export function numberIn(document: Buffer, name: string): number | undefined {
  const source = new BsonReader(document);
  const key = Buffer.from(name);
  for (const end = source.open(); source.next(end);) {
    const isFound = source.isNamed(key);
    source.skipName();
    if (isFound) return numberAt(source);
    source.skip();
  }
  return undefined;
}

function numberAt({ type, bytes, at }: BsonReader): number | undefined {
  switch (type) {
    case INT32:
      return readInt32(bytes, at);
    case DOUBLE:
      return bytes.readDoubleLE(at);
    case INT64:
      return readInt64(bytes, at);
    default:
      return undefined;
  }
}
