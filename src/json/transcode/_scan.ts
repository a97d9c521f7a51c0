import type { Buffer } from "node:buffer";
import { UnknownTypeError } from "./unknown_type_error.ts";

/** The type of a value that is not there. */
export const UNDEFINED = 0x06;

/** What operators and the parts of a reference begin with. */
export const DOLLAR = 0x24;

const DOT = 0x2e;

/** Gives the position of the zero that ends a name. */
export function endOfName(source: Buffer, start: number): number {
  let at = start;
  while (source[at] !== 0) at++;
  return at;
}

/** Reads a little-endian int32: without the checks of the buffer's own method. */
export function readInt32(source: Buffer, at: number): number {
  return (source[at] as number) | (source[at + 1] as number) << 8 |
    (source[at + 2] as number) << 16 |
    (source[at + 3] as number) << 24;
}

/** Reads an int64 as a number: exactly, up to 2^53. */
export function readTime(source: Buffer, at: number): number {
  return readInt32(source, at + 4) * 0x1_0000_0000 + source.readUInt32LE(at);
}

/** Tells whether a name in the source, and the zero after it, is the one that is given. */
export function isNamed(name: Uint8Array, source: Buffer, start: number): boolean {
  const { length } = name;
  if (source[start + length] !== 0) return false;
  for (let i = 0; i < length; i++) {
    if (name[i] !== source[start + i]) return false;
  }
  return true;
}

/** The sizes of the types that have one; -1 for a length in front, -2 for a document. */
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

/** Gives the size of a value. */
export function sizeOf(type: number, source: Buffer, at: number): number {
  if (type === 0x05) return 5 + readInt32(source, at);
  if (type === 0x0b) return endOfName(source, endOfName(source, at) + 1) + 1 - at;
  if (type === 0x0c) return 16 + readInt32(source, at);
  const size = SIZES[type];
  if (size === undefined) throw new UnknownTypeError(`Cannot skip BSON type ${type}`);
  if (size >= 0) return size;
  return readInt32(source, at) + (size === -1 ? 4 : 0);
}

/** Looks closer at an object of which two names look alike. */
export function refuseDuplicates(source: Buffer, start: number): true {
  const end = start + readInt32(source, start);
  const names = new Set<string>();
  let at = start + 4;
  while (at < end - 1) {
    const type = source[at++] as number;
    const nameEnd = endOfName(source, at);
    const name = source.toString("utf8", at, nameEnd);
    if (names.has(name)) throw new UnknownTypeError("Cannot write a duplicate key");
    names.add(name);
    at = nameEnd + 1 + sizeOf(type, source, nameEnd + 1);
  }
  return true;
}

/** Keys that reach the prototype of an object: Mongoose leaves them out. */
const LEFT_OUT: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** Tells whether a key of free data is left out. */
export function isLeftOut(source: Buffer, start: number, end: number): boolean {
  const length = end - start;
  return (length === 9 || length === 11) && LEFT_OUT.has(source.toString("latin1", start, end));
}

/** Tells whether a key is one that a map of Mongoose can have. */
export function isMapKey(source: Buffer, start: number, end: number): boolean {
  if (source[start] === DOLLAR || isLeftOut(source, start, end)) return false;
  for (let at = start; at < end; at++) {
    if (source[at] === DOT) return false;
  }
  return true;
}
