import { Buffer } from "node:buffer";
import type { SchemaType } from "mongoose";
import type { ModelClass } from "../../../declare/model/model_class.ts";
import { isJsonObject } from "../../../schema/fields/json.ts";
import { schemaClass } from "../../../schema/build_schema.ts";
import { classOf } from "../../../schema/model_name.ts";
import { defaultOf, givenDefault, hasDefault } from "../../../schema/mongoose/internals.ts";
import { embeds } from "../../../filter/projection/projected.ts";
import type { Shows } from "../../../filter/projection/projected.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

/** Where an object stands while instances are made. */
interface Spot {
  /** Tells what the read shows: no default stands for what it does not. */
  readonly shows: Shows;
  /** The path of the object, with a dot at its end. */
  readonly prefix: string;
}

/** Makes instances of a class out of stored values. */
export type InstanceMaker = (values: object) => object;

/** What is made of one field. */
interface FieldMaker {
  readonly name: string;
  /** Whether the field is a secret, which no copy of the instance shows. */
  readonly hidden: boolean;
  /** Whether the class has something else of that name, such as a setter, which must not be run. */
  readonly shadows: boolean;
  /** Whether a default may stand for it. */
  readonly expected: boolean;
  readonly from: (value: unknown) => unknown;
  readonly missing: (instance: object) => unknown;
}

/**
 * Makes what makes plain instances of a class out of stored values: their methods, getters and setters work, and nothing
 * tracks their changes. Fields that are not declared are left out, defaults stand for those that are missing. A value
 * that is not of its field's type stays as it is stored, except that no object or list stands in the place of something
 * else.
 */
export function instanceMaker(
  target: ModelClass,
  shape: Shape,
  spot: Spot,
): InstanceMaker {
  const fields = [...shape.fields].map(([name, field]) => fieldMaker(name, field, target, spot));
  const hidden = fields.filter((field) => field.hidden);
  const expected = fields.filter((field) => field.expected);
  const Blank = blankOf(target);
  return (values) => {
    const stored = values as Record<string, unknown>;
    const instance = new Blank();
    // Also where nothing is stored: a hook may set it.
    for (const { name } of hidden) Object.defineProperty(instance, name, SECRET);
    for (const field of fields) {
      const value = stored[field.name];
      if (value !== undefined) put(instance, field, field.from(value));
    }
    for (const field of expected) {
      if (stored[field.name] === undefined) put(instance, field, field.missing(instance));
    }
    return instance;
  };
}

/** A constructor of the class's prototype that runs nothing of the class: engines know the shape of what it makes. */
function blankOf(target: ModelClass): new () => object {
  function Blank() {}
  Blank.prototype = target.prototype;
  return Blank as unknown as new () => object;
}

function fieldMaker(
  name: string,
  field: FieldShape,
  target: ModelClass,
  { shows, prefix }: Spot,
): FieldMaker {
  const path = `${prefix}${name}`;
  const inner = { shows, prefix: `${path}.` };
  const from = fromStored(field, inner);
  return {
    name,
    hidden: field.hidden,
    shadows: name in target.prototype,
    expected: name !== "_id" && hasDefault(field.type) && shows(path, embeds(field)),
    from,
    missing: (instance) => defaultValue(field, instance, from),
  };
}

/** A property that a spread, a clone and JSON pass over. */
const SECRET = { value: undefined, writable: true, enumerable: false, configurable: true } as const;

function put(instance: object, { name, shadows, hidden }: FieldMaker, value: unknown): void {
  if (value === undefined) return;
  if (hidden || !shadows) (instance as Record<string, unknown>)[name] = value;
  else {
    const writable = { writable: true, enumerable: true, configurable: true };
    Object.defineProperty(instance, name, { value, ...writable });
  }
}

/** The default of a field, computed ones included, in the form that a stored value would have. */
function defaultValue(
  { kind, type }: FieldShape,
  instance: object,
  from: (value: unknown) => unknown,
): unknown {
  if (kind === "scalar") return defaultOf(type, instance as never);
  const given = copy(givenDefault(type, instance));
  return given === undefined ? undefined : from(given);
}

/** Copies free-form data, so that no instance shares its default with another. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]));
}

/** Makes what makes of a stored value what an instance has in its place. */
function fromStored(field: FieldShape, spot: Spot): (value: unknown) => unknown {
  const { kind, element } = field;
  if (kind === "free") return (value) => value;
  if (kind === "scalar") return scalarMaker(field);
  const inner = element === undefined ? same : fromStored(element, spot);
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

/** Made at the first need: a model may embed itself. What has no class becomes a plain object. */
function objectMaker({ type, shape }: FieldShape, spot: Spot): InstanceMaker {
  if (shape === undefined) return (values) => values;
  const target = schemaClass(type) ?? Object as unknown as ModelClass;
  let maker: InstanceMaker | undefined;
  return (values) => (maker ??= instanceMaker(target, shape, spot))(values);
}

/** What a reference brings in when it is populated becomes an instance of its class, without defaults. */
function scalarMaker(field: FieldShape): (value: unknown) => unknown {
  const { ref } = (field.type as SchemaType).options as { ref?: unknown };
  const target = typeof ref === "string" ? classOf(ref) : undefined;
  let maker: InstanceMaker | undefined;
  return (value) => {
    if (value === null) return null;
    if (target === undefined || !isJsonObject(value)) return fromScalar(value, field);
    maker ??= instanceMaker(target, field.populated as Shape, { shows: () => false, prefix: "" });
    return maker(value);
  };
}

function fromScalar(value: unknown, { type }: FieldShape): unknown {
  if (typeof value === "string" || typeof value === "boolean") return value;
  const { ref } = (type as SchemaType).options as { ref?: unknown };
  if (ref === undefined && (isJsonObject(value) || Array.isArray(value))) return undefined;
  switch (type?.instance) {
    case "BigInt":
      return toBigInt(value);
    case "Buffer":
      return toBuffer(value);
    default:
      return value;
  }
}

function toBigInt(value: unknown): unknown {
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  const { toBigInt: convert } = value as { toBigInt?: () => bigint };
  return typeof convert === "function" ? convert.call(value) : value;
}

/** Bytes come from the driver as they are, or in its own class. */
function toBuffer(value: unknown): unknown {
  const { buffer: inner } = value as { buffer?: unknown };
  const bytes = value instanceof Uint8Array ? value : inner;
  if (!(bytes instanceof Uint8Array)) return value;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
