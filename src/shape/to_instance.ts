import { Buffer } from "node:buffer";
import type { SchemaType } from "mongoose";
import type { ModelClass } from "../model/model_class.ts";
import { isJsonObject } from "../query/json.ts";
import { schemaClass } from "../schema/build_schema.ts";
import { defaultOf, givenDefault } from "../mapper/internals.ts";
import { projected } from "./projected.ts";
import type { Shows } from "./projected.ts";
import type { FieldShape, Shape } from "./shape.ts";

/** Where an object stands while instances are made. */
interface Spot {
  /** Tells what the read shows: no default stands for what it does not. */
  readonly shows: Shows;
  /** The path of the object, with a dot at its end. */
  readonly prefix: string;
}

/**
 * Makes a plain instance of a class out of stored values: its methods, getters and setters work, and nothing tracks its
 * changes. Fields that are not declared are left out, defaults stand for those that are missing. A value that is not of
 * its field's type stays as it is stored, except that no object or list stands in the place of something else.
 */
export function toInstance(
  values: object,
  target: ModelClass,
  shape: Shape,
  spot: Spot = { shows: projected({}), prefix: "" },
): object {
  const stored = values as Record<string, unknown>;
  const instance = Object.create(target.prototype);
  const missing: [string, FieldShape][] = [];
  for (const [name, field] of shape.fields) {
    const path = `${spot.prefix}${name}`;
    const inner = { ...spot, prefix: `${path}.` };
    if (stored[name] !== undefined) define(instance, name, fromStored(stored[name], field, inner));
    else if (name !== "_id" && spot.shows(path, field.selected)) missing.push([name, field]);
  }
  for (const [name, field] of missing) define(instance, name, defaultValue(field, instance, spot));
  return instance;
}

function define(instance: object, name: string, value: unknown): void {
  if (value === undefined) return;
  Object.defineProperty(instance, name, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  });
}

/** The default of a field, computed ones included, in the form that a stored value would have. */
function defaultValue(field: FieldShape, instance: object, spot: Spot): unknown {
  if (field.kind === "scalar") return defaultOf(field.type, instance as never);
  const given = copy(givenDefault(field.type, instance));
  return given === undefined ? undefined : fromStored(given, field, spot);
}

/** Copies free-form data, so that no instance shares its default with another. */
function copy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(copy);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copy(each)]));
}

function fromStored(value: unknown, field: FieldShape, spot: Spot): unknown {
  if (value === null || field.kind === "free") return value;
  if (field.kind === "scalar") return fromScalar(value, field);
  if (field.kind === "array" && Array.isArray(value)) {
    return value.map((each) => fromElement(each, field, spot));
  }
  if (field.kind === "map" && (isJsonObject(value) || value instanceof Map)) {
    return fromMap(value, field, spot);
  }
  if (field.kind === "object" && isJsonObject(value)) return fromObject(value, field, spot);
  return typeof value === "object" ? undefined : value;
}

function fromElement(value: unknown, { element }: FieldShape, spot: Spot): unknown {
  return element === undefined ? value : fromStored(value, element, spot);
}

function fromMap(value: object, field: FieldShape, spot: Spot): Map<string, unknown> {
  const entries: [string, unknown][] = value instanceof Map ? [...value] : Object.entries(value);
  return new Map(entries.map(([key, each]) => [key, fromElement(each, field, spot)]));
}

function fromObject(value: object, { type, shape }: FieldShape, spot: Spot): unknown {
  const target = schemaClass(type);
  if (target === undefined || shape === undefined) return value;
  return toInstance(value, target, shape, spot);
}

function fromScalar(value: unknown, { type }: FieldShape): unknown {
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
