import { Buffer } from "node:buffer";
import mongoose from "mongoose";
import type { SchemaType } from "mongoose";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { schemaClass } from "../../schema/build_schema.ts";
import { referredClass } from "../../schema/model_name.ts";
import { hasDefault } from "../../schema/mongoose/schemas/field_rules.ts";
import { defaultIn, fieldDefault } from "../../schema/fields/field_default.ts";
import type { Shows } from "../../filter/projection.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { hasDefaultAsGiven } from "./declared_types.ts";

export interface InstanceOptions {
  readonly shape: Shape;
  /** A field that was not read gets no default, because it may be stored. */
  readonly shows: Shows;
  readonly prefix: string;
  /** `populate` has read the entities at these paths with its own selection, so all their fields are shown. */
  readonly populated: ReadonlySet<string>;
  /** Hooks must not see fields with `select: false`, although they were read. */
  readonly leavesOut?: boolean;
}

type Spot = Omit<InstanceOptions, "shape">;

export type InstanceMaker = (values: object) => object;

/**
 * Instances do not track changes, so they are faster than documents. They lack objects and lists in fields of another
 * type.
 */
export function instanceMaker(
  target: ModelClass,
  { shape, ...spot }: InstanceOptions,
): InstanceMaker {
  const makers = [...shape.fields]
    .filter(([, { selected }]) => selected || !spot.leavesOut)
    .map((entry) => new FieldMaker(entry, { target, ...spot }));
  const fields = new Map(makers.map((field) => [field.name, field]));
  const hidden = makers.filter((field) => field.hidden);
  const expected = makers.filter((field) => field.expected);
  const Blank = blankOf(target);
  return (values) => {
    const stored = values as Record<string, unknown>;
    const instance = new Blank();
    // Also hides a field that is not stored, because a hook may set it.
    for (const { name } of hidden) Object.defineProperty(instance, name, SECRET);
    // JSON shows fields in the order in which they are set, so this is the stored order.
    for (const name of Object.keys(stored)) {
      const value = stored[name];
      if (value !== undefined) fields.get(name)?.put(instance, value);
    }
    for (const field of expected) {
      if (stored[field.name] === undefined) field.putDefault(instance);
    }
    return instance;
  };
}

/** Runs no constructor of the class. Objects of one constructor have one layout, which makes them fast. */
function blankOf(target: ModelClass): new () => object {
  function Blank() {}
  Blank.prototype = target.prototype;
  return Blank as unknown as new () => object;
}

/** A spread, a clone and JSON leave out a field with this descriptor. */
const SECRET = { value: undefined, writable: true, enumerable: false, configurable: true } as const;

class FieldMaker {
  readonly name: string;
  readonly hidden: boolean;
  readonly expected: boolean;
  readonly #field: FieldShape;
  readonly #shadows: boolean;
  readonly #convert: (value: unknown) => unknown;

  constructor(
    [name, field]: [string, FieldShape],
    { target, ...spot }: Spot & { readonly target: ModelClass },
  ) {
    const path = `${spot.prefix}${name}`;
    this.name = name;
    this.hidden = field.hidden;
    this.expected = name !== "_id" && hasDefault(field.type) && spot.shows(path, field);
    this.#field = field;
    this.#shadows = !field.hidden && name in target.prototype;
    this.#convert = converter(field, { ...spot, prefix: `${path}.` });
  }

  put(instance: object, stored: unknown): void {
    this.#set(instance, this.#convert(stored));
  }

  putDefault(instance: object): void {
    const value = defaultIn(instance, this.#field);
    if (value === undefined) return;
    this.#set(instance, this.#field.kind === "scalar" ? value : this.#convert(value));
  }

  #set(instance: object, value: unknown): void {
    if (value === undefined) return;
    if (!this.#shadows) (instance as Record<string, unknown>)[this.name] = value;
    else {
      const writable = { writable: true, enumerable: true, configurable: true };
      Object.defineProperty(instance, this.name, { value, ...writable });
    }
  }
}

export interface FieldReader {
  readonly name: string;
  readonly convert: (stored: unknown) => unknown;
  /** The default of a missing field. Absent if only a document can make the default. */
  readonly missing?: () => unknown;
}

interface FieldReaderOptions {
  readonly isComplete?: boolean;
  readonly leavesOut?: boolean;
}

export function fieldReader(
  name: string,
  field: FieldShape,
  { isComplete = false, leavesOut = true }: FieldReaderOptions = {},
): FieldReader {
  const spot: Spot = {
    shows: (_path, { selected }) => !isComplete && (selected || !leavesOut),
    prefix: `${name}.`,
    populated: new Set(),
    leavesOut,
  };
  const convert = converter(field, spot);
  const hasNone = name === "_id" || fieldDefault(field).kind === "nothing";
  if (!hasNone && !hasDefaultAsGiven(field)) return { name, convert };
  const ofDefault = field.kind === "scalar" ? same : convert;
  return {
    name,
    convert,
    missing: () => hasNone ? undefined : ofDefault(defaultIn({}, field)),
  };
}

function converter(field: FieldShape, spot: Spot): (value: unknown) => unknown {
  const { kind, element } = field;
  if (kind === "free") return (value) => value;
  if (kind === "scalar") return scalarConverter(field, spot);
  const inner = element === undefined ? same : converter(element, spot);
  const made = kind === "object" ? objectMaker(field, spot) : undefined;
  return (value) => {
    if (typeof value !== "object" || value === null) return value;
    if (kind === "array" && Array.isArray(value)) return value.map(inner);
    if (kind === "map" && (isJsonObject(value) || value instanceof Map)) return toMap(value, inner);
    return made !== undefined && isJsonObject(value) ? made(value) : undefined;
  };
}

function same(value: unknown): unknown {
  return value;
}

function toMap(value: object, inner: (value: unknown) => unknown): Map<string, unknown> {
  const entries: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, each]) => [key, inner(each)]));
}

function objectMaker({ type, shape }: FieldShape, spot: Spot): InstanceMaker {
  if (shape === undefined) return (values) => values;
  const target = schemaClass(type) ?? Object as unknown as ModelClass;
  let maker: InstanceMaker | undefined;
  return (values) => (maker ??= instanceMaker(target, { shape, ...spot }))(values);
}

function scalarConverter(
  field: FieldShape,
  { prefix, populated }: Spot,
): (value: unknown) => unknown {
  const { ref } = (field.type as SchemaType).options as { ref?: unknown };
  const target = referredClass(ref);
  const leavesOut = !populated.has(prefix.slice(0, -1));
  const spot: Spot = { shows: () => false, prefix: "", populated: new Set(), leavesOut };
  let maker: InstanceMaker | undefined;
  return (value) => {
    if (value === null) return null;
    if (target === undefined || !isJsonObject(value)) return fromScalar(value, field);
    maker ??= instanceMaker(target, { shape: field.populated as Shape, ...spot });
    return maker(value);
  };
}

function fromScalar(value: unknown, { type }: FieldShape): unknown {
  if (typeof value === "string" || typeof value === "boolean") return value;
  const { ref } = (type as SchemaType).options as { ref?: unknown };
  if (Array.isArray(value) || (ref === undefined && isJsonObject(value))) return undefined;
  switch (type?.instance) {
    case "BigInt":
      return toBigInt(value);
    case "Buffer":
      return toBuffer(value);
    case "Double":
      return value instanceof mongoose.mongo.Double ? value.valueOf() : value;
    default:
      return value;
  }
}

function toBigInt(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  const { toBigInt: convert } = value as { toBigInt?: () => bigint };
  return typeof convert === "function" ? convert.call(value) : value;
}

function toBuffer(value: unknown): unknown {
  const { buffer: inner } = value as { buffer?: unknown };
  const bytes = value instanceof Uint8Array ? value : inner;
  if (!(bytes instanceof Uint8Array)) return value;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
