// BSON to JSON, byte by byte, without building objects in between.
//
// A BSON document is a length (int32, little-endian, itself included), elements, and a zero. An element is a type (one
// byte), a name that ends with a zero, and a value whose form follows from the type. An array is a document whose names
// are "0", "1" and so on. Numbers are little-endian; a string is a length, UTF-8 bytes and a zero.
import type { Buffer } from "node:buffer";
import { writeBinary } from "./_binary.ts";
import { checkValue } from "./_check.ts";
import { writeDate } from "./_date.ts";
import type { JsonWriter } from "./json_writer.ts";
import { writeDecimal, writeDouble, writeInteger, writeLong, writeUnsigned } from "./_numbers.ts";
import {
  DOLLAR,
  endOfName,
  isLeftOut,
  isMapKey,
  isNamed,
  readInt32,
  readTime,
  refuseDuplicates,
  sizeOf,
  UNDEFINED,
} from "./_scan.ts";
import type { FieldPlan, Plan, ValuePlan } from "./plan.ts";
import { UnknownTypeError } from "./unknown_type_error.ts";

const COMMA = 0x2c;

/** Room for a comma and any value of a fixed size, quotes included. */
const ROOM = 64;

/** Counts the objects that were written by a plan, so that each has a number. */
let objects = 0;

/**
 * Writes a BSON document as a JSON object.
 *
 * @param plan Which fields to write; without one, all.
 * @returns The position after the document.
 * @throws {UnknownTypeError} If it holds a value that is not written here; the writer is to be rewound.
 */
export function transcodeDocument(
  out: JsonWriter,
  source: Buffer,
  start: number,
  plan?: Plan,
): number {
  if (plan === undefined || plan.values !== undefined) {
    return transcodeFree(out, source, start, plan?.values);
  }
  const end = start + readInt32(source, start);
  const object = ++objects;
  let at = start + 4;
  let missing = plan.defaults.length;
  let position = 0;
  let first = true;
  out.reserve(1);
  out.byte(0x7b);
  while (at < end - 1) {
    const type = source[at++] as number;
    const field = findField(plan, position++, source, at);
    if (field === undefined) {
      if (source[at] === DOLLAR) throw new UnknownTypeError("Cannot tell a field from a reference");
      const skipped = endOfName(source, at) + 1;
      at = skipped + sizeOf(type, source, skipped);
      continue;
    }
    const value = at + field.name.length + 1;
    if (field.seen === object) throw new UnknownTypeError("Cannot write a duplicate key");
    field.seen = object;
    missing -= field.expected;
    out.reserve(ROOM + field.key.length);
    if (!first) out.byte(COMMA);
    first = false;
    out.raw(field.key);
    at = transcodeValue(out, type, source, value, field);
  }
  if (missing !== 0) writeDefaults(out, plan, object, first);
  out.reserve(1);
  out.byte(0x7d);
  return end;
}

/** Writes an object whose keys are data. */
function transcodeFree(
  out: JsonWriter,
  source: Buffer,
  start: number,
  plan: ValuePlan | undefined,
): number {
  const end = start + readInt32(source, start);
  let at = start + 4;
  let names = 0;
  let checked = false;
  let first = true;
  out.reserve(1);
  out.byte(0x7b);
  while (at < end - 1) {
    const type = source[at++] as number;
    const nameEnd = endOfName(source, at);
    const mark = 1 <<
      (source[at] as number * 7 + (source[nameEnd - 1] as number) * 3 + nameEnd - at);
    if ((names & mark) !== 0 && !checked) checked = refuseDuplicates(source, start);
    names |= mark;
    const value = nameEnd + 1;
    if (plan !== undefined && !isMapKey(source, at, nameEnd)) {
      throw new UnknownTypeError("Cannot write such a key of a map");
    }
    if (type === UNDEFINED || isLeftOut(source, at, nameEnd)) {
      at = value + sizeOf(type, source, value);
      continue;
    }
    out.reserve(1);
    if (!first) out.byte(COMMA);
    first = false;
    out.string(source, at, nameEnd);
    out.reserve(ROOM);
    out.byte(0x3a);
    at = transcodeValue(out, type, source, value, plan);
  }
  out.reserve(1);
  out.byte(0x7d);
  return end;
}

function writeDefaults(out: JsonWriter, plan: Plan, object: number, first: boolean): void {
  // The objects within have taken its marks.
  if (plan.recursive) throw new UnknownTypeError("Cannot tell which fields are missing");
  for (const { field, text } of plan.defaults) {
    if (field.seen === object) continue;
    if (text.length === 0) throw new UnknownTypeError("Cannot write a default that is computed");
    out.reserve(text.length + 1);
    if (!first) out.byte(COMMA);
    first = false;
    out.raw(text);
  }
}

/** Finds the plan of a field: documents of a collection have their fields in one order, mostly. */
function findField(
  plan: Plan,
  position: number,
  source: Buffer,
  start: number,
): FieldPlan | undefined {
  const guess = plan.order[position];
  if (guess !== undefined && isNamed(guess.name, source, start)) return guess;
  const named = plan.fields.get(source.toString("utf8", start, endOfName(source, start)));
  // Decoding replaces what is no UTF-8: such a name is not the one that it looks like.
  const field = named !== undefined && isNamed(named.name, source, start) ? named : undefined;
  if (position < 256) plan.order[position] = field;
  return field;
}

function transcodeArray(
  out: JsonWriter,
  source: Buffer,
  start: number,
  items: ValuePlan | undefined,
): number {
  const end = start + readInt32(source, start);
  let at = start + 4;
  let first = true;
  out.reserve(1);
  out.byte(0x5b);
  while (at < end - 1) {
    const type = source[at] as number;
    at = endOfName(source, at + 1) + 1;
    out.reserve(ROOM);
    if (!first) out.byte(COMMA);
    first = false;
    at = transcodeValue(out, type, source, at, items);
  }
  out.reserve(1);
  out.byte(0x5d);
  return end;
}

/** Writes a value; gives the position after it. */
function transcodeValue(
  out: JsonWriter,
  type: number,
  source: Buffer,
  at: number,
  plan: ValuePlan | undefined,
): number {
  if (plan !== undefined) checkValue(plan, type, source, at);
  switch (type) {
    case 0x01:
      writeDouble(out, source.readDoubleLE(at));
      return at + 8;
    case 0x02:
    case 0x0e: {
      const end = at + 4 + readInt32(source, at);
      out.string(source, at + 4, end - 1);
      return end;
    }
    case 0x03:
      return transcodeDocument(out, source, at, plan?.object);
    case 0x04:
      return transcodeArray(out, source, at, plan?.items);
    case 0x05:
      return writeBinary(out, source, at, plan);
    case UNDEFINED:
    case 0x0a:
      out.ascii("null");
      return at;
    case 0x07:
      out.byte(0x22);
      out.hex(source, at, at + 12);
      out.byte(0x22);
      return at + 12;
    case 0x08:
      out.ascii(source[at] === 0 ? "false" : "true");
      return at + 1;
    case 0x09:
      writeDate(out, readTime(source, at));
      return at + 8;
    case 0x10:
      writeInteger(out, readInt32(source, at));
      return at + 4;
    case 0x11:
      writeUnsigned(out, source, at);
      return at + 8;
    case 0x12:
      writeLong(out, source, at);
      return at + 8;
    case 0x13:
      writeDecimal(out, source, at);
      return at + 16;
    default:
      throw new UnknownTypeError(`Cannot write BSON type ${type} as JSON`);
  }
}
