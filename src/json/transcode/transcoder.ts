import type { Buffer } from "node:buffer";
import { type BsonReader, readInt32, readInt64, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { JsonWriter, Separator } from "../bytes/json_writer.ts";
import { TIME_RANGE, WRITERS } from "../json_types.ts";
import { ANY, type FieldPlan, type Plan, ROOM, type ValuePlan } from "./plan.ts";
import { PROTOTYPE_KEYS } from "../../schema/fields/json.ts";

const DOUBLE = 0x01;
const OBJECT = 0x03;
const ARRAY = 0x04;
const DATE = 0x09;
const NULL = 0x0a;
const INT64 = 0x12;

const DOLLAR = 0x24;
const DOT = 0x2e;

export interface TranscoderOptions {
  readonly out: JsonWriter;
  readonly fieldWriter?: FieldWriter | undefined;
}

export interface FieldWriter {
  /** Writes the value after its key. `false` leaves it to the `Transcoder`. */
  take(transcoder: Transcoder, field: FieldPlan): boolean;
}

/** Converts BSON to JSON without JavaScript objects, which would be much slower. */
export class Transcoder {
  readonly source: BsonReader;
  readonly out: JsonWriter;
  readonly #fieldWriter: FieldWriter | undefined;

  constructor(source: BsonReader, { out, fieldWriter }: TranscoderOptions) {
    this.source = source;
    this.out = out;
    this.#fieldWriter = fieldWriter;
  }

  entity(plan: Plan): void {
    this.#planned(plan, this.#fieldWriter);
  }

  /**
   * @throws {UnknownTypeError} If only Mongoose can make the JSON, as for a computed default. The caller must discard
   * the JSON that is already written.
   */
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
      if (field.lastObject !== object) missing -= field.expected;
      field.lastObject = object;
      out.reserve(ROOM + field.key.length);
      out.comma();
      out.raw(field.key);
      source.at += field.name.length + 1;
      if (fieldWriter === undefined || !fieldWriter.take(this, field)) this.value(field);
    }
    if (missing !== 0) writeDefaults(plan, out);
    out.ascii("}");
  }

  #findField(plan: Plan, position: number): FieldPlan | undefined {
    const { source } = this;
    const guess = plan.order[position];
    if (guess !== undefined && source.isNamed(guess.name)) return guess;
    const named = plan.fields.get(source.bytes.toString("utf8", source.at, source.nameEnd()));
    // `toString()` makes equal text of different names that are not UTF-8, so a hidden field could be shown.
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

  /** Needs {@linkcode ROOM} reserved bytes of the output. */
  value(plan: ValuePlan | undefined): void {
    const { source, out } = this;
    if (plan !== undefined) checkValue(plan, source);
    if (source.type === OBJECT) return this.document(plan?.object);
    if (source.type === ARRAY) return this.#array(plan?.items);
    const write = source.type !== NULL && plan?.write || WRITERS[source.type];
    if (write === undefined) {
      throw new UnknownTypeError(`Cannot write BSON type ${source.type} as JSON`);
    }
    write(source, out);
  }
}

function writeDefaults(plan: Plan, out: JsonWriter): void {
  if (plan.recursive) throw new UnknownTypeError("Cannot tell which fields are missing");
  for (const { field, text } of plan.defaults) {
    if (field.lastObject === plan.objects) continue;
    if (text.length === 0) throw new UnknownTypeError("Cannot write a default that is computed");
    out.reserve(text.length + 1);
    out.comma();
    out.raw(text);
  }
}

function transcodeFree(transcoder: Transcoder, values: ValuePlan | undefined): void {
  const { source, out } = transcoder;
  out.ascii("{");
  for (const end = source.open(); source.next(end);) {
    const nameEnd = source.nameEnd();
    const leavesOut = isLeftOut(source, nameEnd);
    // Mongoose makes no JSON of a Map with a forbidden key, so it must convert this document.
    if (values !== undefined && (leavesOut || !isMapKey(source, nameEnd))) {
      throw new UnknownTypeError("Cannot write such a key of a map");
    }
    if (leavesOut) {
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

/** Mongoose leaves out keys that would reach the prototype of an object. */
function isLeftOut({ bytes, at }: BsonReader, end: number): boolean {
  return LENGTHS.has(end - at) && PROTOTYPE_KEYS.has(bytes.toString("latin1", at, end));
}

const LENGTHS: ReadonlySet<number> = new Set([9, 11]);

function isMapKey({ bytes, at }: BsonReader, end: number): boolean {
  return bytes[at] !== DOLLAR && !bytes.subarray(at, end).includes(DOT);
}

function checkValue({ types }: ValuePlan, source: BsonReader): void {
  const { type } = source;
  if (types === ANY) return;
  const isKnown = type < 32 && (types >>> type & 1) !== 0;
  if (isKnown && canHold(types, source)) return;
  throw new UnknownTypeError(`Cannot write BSON type ${type} here`);
}

/** `false` for numbers and dates that JavaScript cannot represent, which Mongoose writes. */
function canHold(types: number, { type, bytes, at }: BsonReader): boolean {
  if (type === DOUBLE) return !Number.isNaN(bytes.readDoubleLE(at));
  if (type === DATE) return Math.abs(readInt64(bytes, at)) <= TIME_RANGE;
  const isNumber = type === INT64 && (types & 1 << DOUBLE) !== 0;
  return !isNumber || Number.isSafeInteger(readInt64(bytes, at));
}

export interface DocumentWriterOptions {
  /** Returns the JSON of a document that only Mongoose can write. */
  readonly decode: (document: Buffer) => string;
  readonly fieldWriter?: FieldWriter;
}

export class DocumentWriter {
  readonly #plan: Plan;
  readonly #options: DocumentWriterOptions;

  constructor(plan: Plan, options: DocumentWriterOptions) {
    this.#plan = plan;
    this.#options = options;
  }

  document(source: BsonReader, out: JsonWriter): void {
    this.#write(this.#open(source, out));
  }

  /** Yields after about `most` bytes of BSON. */
  *array(
    source: BsonReader,
    { out, separator = ",", most = Infinity }: {
      readonly out: JsonWriter;
      readonly separator?: Separator | undefined;
      readonly most?: number;
    },
  ): Generator<void, number> {
    const transcoder = this.#open(source, out);
    let count = 0;
    let begun = source.at;
    for (const end = source.open(); source.next(end);) {
      if (source.at - begun > most) {
        yield;
        begun = source.at;
      }
      source.skipName();
      if (count++ > 0) out.ascii(separator);
      this.#write(transcoder);
    }
    return count;
  }

  #open(source: BsonReader, out: JsonWriter): Transcoder {
    return new Transcoder(source, { out, fieldWriter: this.#options.fieldWriter });
  }

  #write(transcoder: Transcoder): void {
    const { source, out } = transcoder;
    const start = source.at;
    const before = out.length;
    try {
      transcoder.entity(this.#plan);
    } catch (error) {
      if (!(error instanceof UnknownTypeError)) throw error;
      source.at = start;
      out.length = before;
      out.text(this.#options.decode(source.take(readInt32(source.bytes, start))));
    }
  }
}
