import { UnknownTypeError } from "../bytes/bson_reader.ts";
import type { BsonReader } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";
import { WRITERS } from "../types/json_types.ts";
import { checkValue } from "./_check.ts";
import { transcodeFree } from "./_free.ts";
import { ROOM } from "./plan.ts";
import type { FieldPlan, Plan, ValuePlan } from "./plan.ts";

const OBJECT = 0x03;
const ARRAY = 0x04;
const BINARY = 0x05;
const DOLLAR = 0x24;

export interface TranscoderOptions {
  readonly out: JsonWriter;
  /** Writes some fields of entities. */
  readonly fieldWriter?: FieldWriter | undefined;
}

/** Writes some fields of entities in its own way. */
export interface FieldWriter {
  /** Moves past the current value and writes it, or returns `false`. Its key has been written. */
  take(transcoder: Transcoder, field: FieldPlan): boolean;
  /** Writes what is not stored, in the place of the defaults. */
  finish?(transcoder: Transcoder, plan: Plan): void;
}

/** Turns BSON into JSON byte by byte, without objects in between. */
export class Transcoder {
  readonly source: BsonReader;
  readonly out: JsonWriter;
  /** Where the last field of an entity begins, its comma and its key included. */
  fieldStart = 0;
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
      this.fieldStart = out.length;
      out.reserve(ROOM + field.key.length);
      out.comma();
      out.raw(field.key);
      source.at += field.name.length + 1;
      if (fieldWriter === undefined || !fieldWriter.take(this, field)) this.value(field);
    }
    if (fieldWriter?.finish !== undefined) fieldWriter.finish(this, plan);
    else if (missing !== 0) writeDefaults(plan, out);
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
