import { isLeftOutKey } from "../../schema/fields/json.ts";
import { BsonReader, UnknownTypeError } from "../bytes/bson_reader.ts";
import { ROOM } from "./plan.ts";
import type { ValuePlan } from "./plan.ts";
import type { Transcoder } from "./transcoder.ts";

const UNDEFINED = 0x06;
const DOLLAR = 0x24;
const DOT = 0x2e;

/** Writes an object whose keys are data. With a plan of its values it is a map, else it may be anything. */
export function transcodeFree(transcoder: Transcoder, values: ValuePlan | undefined): void {
  const { source, out } = transcoder;
  const start = source.at;
  let names = 0;
  let checked = false;
  out.ascii("{");
  for (const end = source.open(); source.next(end);) {
    const nameEnd = source.nameEnd();
    const mark = 1 << hashName(source, nameEnd);
    if ((names & mark) !== 0 && !checked) {
      refuseDuplicates(new BsonReader(source.bytes, start));
      checked = true;
    }
    names |= mark;
    if (values !== undefined && !isMapKey(source, nameEnd)) {
      throw new UnknownTypeError("Cannot write such a key of a map");
    }
    if (source.type === UNDEFINED || isLeftOut(source, nameEnd)) {
      source.at = nameEnd + 1;
      source.skip();
      continue;
    }
    out.reserve(1);
    out.comma();
    out.string(source, nameEnd);
    out.reserve(ROOM);
    out.byte(0x3a);
    source.at = nameEnd + 1;
    transcoder.value(values);
  }
  out.ascii("}");
}

/** A number for a name. Only if two names of an object share the last five bits of it, they are compared. */
function hashName({ bytes, at }: BsonReader, end: number): number {
  return (bytes[at] as number) * 7 + (bytes[end - 1] as number) * 3 + end - at;
}

function refuseDuplicates(source: BsonReader): void {
  const names = new Set<string>();
  for (const end = source.open(); source.next(end);) {
    const name = source.bytes.toString("utf8", source.at, source.nameEnd());
    if (names.has(name)) throw new UnknownTypeError("Cannot write a duplicate key");
    names.add(name);
    source.skipName();
    source.skip();
  }
}

/** Keys that reach the prototype of an object, or have a meaning for Mongoose: documents leave them out. */
function isLeftOut({ bytes, at }: BsonReader, end: number): boolean {
  const isSuspect = bytes[at] === DOLLAR || LENGTHS.has(end - at);
  return isSuspect && isLeftOutKey(bytes.toString("latin1", at, end));
}

/** The lengths of such keys that begin with a letter. */
const LENGTHS: ReadonlySet<number> = new Set([9, 11, 16]);

function isMapKey(source: BsonReader, end: number): boolean {
  if (source.bytes[source.at] === DOLLAR || isLeftOut(source, end)) return false;
  for (let at = source.at; at < end; at++) {
    if (source.bytes[at] === DOT) return false;
  }
  return true;
}
