import { BsonReader, readInt64, UnknownTypeError } from "../bytes/bson_reader.ts";
import type { JsonWriter } from "../bytes/json_writer.ts";
import { toFieldJson } from "../to_json.ts";
import { rawArray } from "../../schema/mongoose/documents/document_values.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { FieldPlan, Plan } from "./plan.ts";
import { Transcoder } from "./transcoder.ts";
import type { FieldWriter } from "./transcoder.ts";

const ARRAY = 0x04;
const DATE = 0x09;

type Values = Readonly<Record<string, unknown>>;

/** An entity that hooks have seen, beside the bytes that it was made from. */
export interface SeenEntity {
  readonly bytes: BsonReader["bytes"];
  /** The values that the driver has made of the bytes. */
  readonly stored: Values;
  /** The values of the entity as they are now. */
  readonly values: Values;
}

/**
 * Writes entities that hooks have seen as JSON text: from their bytes what no hook can have changed, the rest from their
 * values.
 */
export class SeenWriter {
  readonly #plan: Plan;
  readonly #fields: SeenFields;

  constructor({ plan, shape }: { readonly plan: Plan; readonly shape: Shape }) {
    this.#plan = plan;
    const tests = [...plan.fields.keys()].map((name): [string, IsStored | undefined] => {
      return [name, testOf(shape.fields.get(name) as FieldShape)];
    });
    this.#fields = { shape, tests: new Map(tests) };
  }

  /** Writes an entity; returns `false` where only its values can tell, whatever is written by then. */
  write(entity: SeenEntity, out: JsonWriter): boolean {
    const fieldWriter = new ChangedFields(entity, this.#fields);
    try {
      new Transcoder(new BsonReader(entity.bytes), { out, fieldWriter }).entity(this.#plan);
      return true;
    } catch (error) {
      if (!(error instanceof UnknownTypeError)) throw error;
      return false;
    }
  }
}

interface SeenFields {
  readonly shape: Shape;
  /** What tells that the value of a field is as stored, by its name. */
  readonly tests: ReadonlyMap<string, IsStored | undefined>;
}

/** Writes the fields of one entity that are no longer as stored. */
class ChangedFields implements FieldWriter {
  readonly #entity: SeenEntity;
  readonly #fields: SeenFields;

  constructor(entity: SeenEntity, fields: SeenFields) {
    this.#entity = entity;
    this.#fields = fields;
  }

  take({ source, out, fieldStart }: Transcoder, { property }: FieldPlan): boolean {
    const value = this.#valueOf(property);
    const stored = this.#entity.stored[property];
    const { shape, tests } = this.#fields;
    if (tests.get(property)?.({ value, stored, source })) return false;
    source.skip();
    const text = textOf(value, shape, property);
    if (text === undefined) out.length = fieldStart;
    else out.text(text);
    return true;
  }

  finish({ out }: Transcoder, { fields, objects }: Plan): void {
    const { shape } = this.#fields;
    for (const [name, field] of shape.fields) {
      if (field.hidden || fields.get(name)?.seen === objects) continue;
      const text = textOf(this.#valueOf(name), shape, name);
      if (text === undefined) continue;
      out.reserve(1);
      out.comma();
      out.text(`${JSON.stringify(name)}:${text}`);
    }
  }

  /** A class may have a getter of that name, and JSON passes over what is not enumerable. */
  #valueOf(name: string): unknown {
    const { values } = this.#entity;
    return Object.prototype.propertyIsEnumerable.call(values, name) ? values[name] : undefined;
  }
}

function textOf(value: unknown, { fields, rights }: Shape, name: string): string | undefined {
  if (value === undefined) return undefined;
  return JSON.stringify(toFieldJson(value, fields.get(name) as FieldShape, rights));
}

interface SeenValue {
  readonly value: unknown;
  /** What the driver has made of the stored value. */
  readonly stored: unknown;
  /** At the stored value. */
  readonly source: BsonReader;
}

/** Whether a value is still what is stored. */
type IsStored = (seen: SeenValue) => boolean;

/** Types whose values are constants, or objects of the driver that hold the stored bytes. */
const CONSTANT: ReadonlySet<string | undefined> = new Set([
  "BigInt",
  "Boolean",
  "Decimal128",
  "Double",
  "Int32",
  "Number",
  "ObjectId",
  "String",
]);

/** Gives the test of a field; `undefined` where a change may not show. */
function testOf({ kind, type, element }: FieldShape): IsStored | undefined {
  if (kind === "scalar" && type?.instance === "Date") return isSameTime;
  if (kind === "scalar" && CONSTANT.has(type?.instance)) return isSame;
  const isList = kind === "array" && element?.kind === "scalar" &&
    CONSTANT.has(element.type?.instance);
  return isList ? isSameList : undefined;
}

/** A hook may have changed an object of the driver in place, which is also what is stored. */
function isSame({ value, stored, source }: SeenValue): boolean {
  return value === stored &&
    (typeof value !== "object" || value === null || holdsBytes(value, source));
}

/** Whether an ObjectId or a Decimal128 holds the bytes that are stored; `false` for any other object. */
function holdsBytes(value: object, { bytes: stored, at }: BsonReader): boolean {
  const { id, bytes = id } = value as { readonly id?: unknown; readonly bytes?: unknown };
  if (!(bytes instanceof Uint8Array)) return false;
  for (let index = 0; index < bytes.length; index++) {
    if (bytes[index] !== stored[at + index]) return false;
  }
  return true;
}

function isSameTime({ value, stored, source: { type, bytes, at } }: SeenValue): boolean {
  return value === stored && type === DATE && value instanceof Date &&
    value.toJSON === Date.prototype.toJSON && value.getTime() === readInt64(bytes, at);
}

function isSameList({ value, stored, source: { type, bytes, at } }: SeenValue): boolean {
  if (type !== ARRAY || !Array.isArray(value) || !Array.isArray(stored)) return false;
  const elements = rawArray(value);
  const source = new BsonReader(bytes, at);
  let index = 0;
  for (const end = source.open(); source.next(end); index++) {
    source.skipName();
    if (!isSame({ value: elements[index], stored: stored[index], source })) return false;
    source.skip();
  }
  return elements !== stored && elements.length === index;
}
