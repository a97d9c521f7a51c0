import { BsonReader, readInt64, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";
import { TIME_RANGE, WRITERS } from "../json_types.ts";
import { ANY, ROOM } from "./plan.ts";
import type { FieldPlan, Plan, ValuePlan } from "./plan.ts";
import { PROTOTYPE_KEYS } from "../../schema/fields/json.ts";

const DOUBLE = 0x01;
const OBJECT = 0x03;
const ARRAY = 0x04;
const BINARY = 0x05;
const UNDEFINED = 0x06;
const DATE = 0x09;
const INT64 = 0x12;

const DOLLAR = 0x24;
const DOT = 0x2e;

export interface TranscoderOptions {
  readonly out: JsonWriter;
  readonly fieldWriter?: FieldWriter | undefined;
}

/** Writes some fields of entities in its own way. */
export interface FieldWriter {
  /** Moves past the current value and writes it, or returns `false`. Its key has been written. */
  take(transcoder: Transcoder, field: FieldPlan): boolean;
}

/** Turns BSON into JSON byte by byte, without objects in between. */
export class Transcoder {
  readonly source: BsonReader;
  readonly out: JsonWriter;
  readonly #fieldWriter: FieldWriter | undefined;

  constructor(source: BsonReader, { out, fieldWriter }: TranscoderOptions) {
    this.source = source;
    this.out = out;
    this.#fieldWriter = fieldWriter;
  }

  /** Writes an entity; fails as `document()` does. */
  entity(plan: Plan): void {
    this.#planned(plan, this.#fieldWriter);
  }

  /** @throws {UnknownTypeError} If only Mongoose can write a value in it. The caller drops what is written so far. */
  document(plan?: Plan): void {
    if (plan === undefined || plan.values !== undefined) transcodeFree(this, plan?.values);
    else this.#planned(plan, undefined);
  }

  #planned(plan: Plan, fieldWriter: FieldWriter | undefined): void {
    const { source, out } = this;
    const object = ++plan.objects;
    let missing = plan.defaults.length;
    let position = 0;
    out.ascii("{");
    for (const end = source.open(); source.next(end);) {
      const field = this.#findField(plan, position++);
      if (field === undefined) {
        this.#skipField();
        continue;
      }
      if (field.seen === object) throw new UnknownTypeError("Cannot write a duplicate key");
      field.seen = object;
      missing -= field.expected;
      out.reserve(ROOM + field.key.length);
      out.comma();
      out.raw(field.key);
      source.at += field.name.length + 1;
      if (fieldWriter === undefined || !fieldWriter.take(this, field)) this.value(field);
    }
    if (missing !== 0) writeDefaults(plan, out);
    out.ascii("}");
  }

  /** Finds the plan of a field: most documents of a collection have their fields in the same order. */
  #findField(plan: Plan, position: number): FieldPlan | undefined {
    const { source } = this;
    const guess = plan.order[position];
    if (guess !== undefined && source.isNamed(guess.name)) return guess;
    const named = plan.fields.get(source.bytes.toString("utf8", source.at, source.nameEnd()));
    // Decoding replaces bytes that are not UTF-8: another name may look the same.
    const field = named !== undefined && source.isNamed(named.name) ? named : undefined;
    if (position < 256) plan.order[position] = field;
    return field;
  }

  #skipField(): void {
    const { source } = this;
    if (source.bytes[source.at] === DOLLAR) {
      throw new UnknownTypeError("Cannot tell a field from a reference");
    }
    source.skipName();
    source.skip();
  }

  #array(items: ValuePlan | undefined): void {
    const { source, out } = this;
    out.ascii("[");
    for (const end = source.open(); source.next(end);) {
      source.skipName();
      out.reserve(ROOM);
      out.comma();
      this.value(items);
    }
    out.ascii("]");
  }

  /** Writes the value of the current element, for which there must be {@linkcode ROOM}. */
  value(plan: ValuePlan | undefined): void {
    const { source, out } = this;
    if (plan !== undefined) checkValue(plan, source);
    if (source.type === OBJECT) return this.document(plan?.object);
    if (source.type === ARRAY) return this.#array(plan?.items);
    const write = source.type === BINARY && plan?.bytes || WRITERS[source.type];
    if (write === undefined) {
      throw new UnknownTypeError(`Cannot write BSON type ${source.type} as JSON`);
    }
    write(source, out);
  }
}

function writeDefaults(plan: Plan, out: JsonWriter): void {
  // The objects within have overwritten `seen`.
  if (plan.recursive) throw new UnknownTypeError("Cannot tell which fields are missing");
  for (const { field, text } of plan.defaults) {
    if (field.seen === plan.objects) continue;
    if (text.length === 0) throw new UnknownTypeError("Cannot write a default that is computed");
    out.reserve(text.length + 1);
    out.comma();
    out.raw(text);
  }
}

/** Writes an object whose keys are data. With a plan of its values it is a map, else it may be anything. */
function transcodeFree(transcoder: Transcoder, values: ValuePlan | undefined): void {
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

/** Keys that reach the prototype of an object: documents leave them out. */
function isLeftOut({ bytes, at }: BsonReader, end: number): boolean {
  return LENGTHS.has(end - at) && PROTOTYPE_KEYS.has(bytes.toString("latin1", at, end));
}

const LENGTHS: ReadonlySet<number> = new Set([9, 11]);

function isMapKey(source: BsonReader, end: number): boolean {
  if (source.bytes[source.at] === DOLLAR || isLeftOut(source, end)) return false;
  for (let at = source.at; at < end; at++) {
    if (source.bytes[at] === DOT) return false;
  }
  return true;
}

/** Throws for a value that its field does not hold if it is as declared. */
function checkValue({ types }: ValuePlan, source: BsonReader): void {
  const { type } = source;
  if (types === ANY && type !== UNDEFINED) return;
  const known = type < 32 && (types >>> type & 1) !== 0;
  if (!known || !isExact(types, source)) {
    throw new UnknownTypeError(`Cannot write BSON type ${type} here`);
  }
}

/** Whether a number or a date is one that the field can hold. */
function isExact(types: number, { type, bytes, at }: BsonReader): boolean {
  if (type === DOUBLE) return !Number.isNaN(bytes.readDoubleLE(at));
  if (type !== DATE && type !== INT64) return type !== UNDEFINED;
  const value = readInt64(bytes, at);
  if (type === DATE) return Math.abs(value) <= TIME_RANGE;
  return (types & 1 << DOUBLE) === 0 || Number.isSafeInteger(value);
}
