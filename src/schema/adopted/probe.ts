import mongoose from "mongoose";
import type { Document, Model, Schema, SchemaType } from "mongoose";
import { Buffer } from "node:buffer";
import { isJsonObject } from "../fields/json.ts";
import { memoize } from "../memoize.ts";
import { elementOf, embeddedSchema, typesOf } from "./paths.ts";

interface Probe {
  readonly removed: ReadonlySet<string>;
  readonly json: unknown;
}

/** Finds the paths that the application's `toJSON()` leaves out, by a document with a value at every path. */
export const probe = memoize((model: Model<unknown>): Probe => {
  const schema = model.schema as Schema;
  try {
    const doc = model.hydrate(sampleOf(schema) as object) as Document;
    const [json, object]: unknown[] = [doc.toJSON(), doc.toObject()];
    const removed = pathsIn(schema, "").filter((path) =>
      ![json, object].every((each) => holds(each, path.split(".")))
    );
    return { removed: new Set(removed), json };
  } catch (cause) {
    throw new TypeError(`its JSON fails for a probe document: ${(cause as Error).message}`, {
      cause,
    });
  }
});

function pathsIn(schema: Schema, prefix: string): string[] {
  return typesOf(schema).flatMap(([path, type]) => {
    const inner = embeddedSchema(type);
    const below = inner === undefined ? [] : pathsIn(inner, `${prefix}${path}.`);
    return [`${prefix}${path}`, ...below];
  });
}

function holds(json: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true;
  if (Array.isArray(json)) return holds(json[0], [name, ...rest]);
  const { [MAP_KEY]: inMap, [name]: value }: Record<string, unknown> = json instanceof Map
    ? Object.fromEntries(json)
    : Object(json);
  if (inMap !== undefined) return holds(inMap, [name, ...rest]);
  // A transform often hides a value by `undefined`, which JSON leaves out.
  return value !== undefined && holds(value, rest);
}

const MAP_KEY = "probe~";

function sampleOf(schema: Schema): unknown {
  const sample = {};
  for (const [path, type] of typesOf(schema)) {
    const names = path.split(".");
    const last = names.pop() as string;
    const holder = names.reduce<Record<string, unknown>>((at, name) => {
      const inner = isJsonObject(at[name]) ? at[name] : {};
      at[name] = inner;
      return inner as Record<string, unknown>;
    }, sample);
    holder[last] = valueFor(type);
  }
  return sample;
}

const VALUES: Readonly<Record<string, () => unknown>> = {
  BigInt: () => 1n,
  Boolean: () => true,
  Buffer: () => Buffer.from("probe"),
  Date: () => new Date(0),
  Decimal128: () => mongoose.Types.Decimal128.fromString("1"),
  Double: () => new mongoose.mongo.Double(1),
  Int32: () => 1,
  Mixed: () => ({ probe: 1 }),
  Number: () => 1,
  ObjectId: () => new mongoose.Types.ObjectId(),
  UUID: () => new mongoose.mongo.UUID(),
};

function valueFor(type: SchemaType): unknown {
  const { schema, enumValues: [first] = [] } = type as {
    schema?: Schema;
    enumValues?: readonly unknown[];
  };
  const element = elementOf(type);
  const inner = schema === undefined ? element && valueFor(element) : sampleOf(schema);
  if (type.instance === "Map") return new Map([[MAP_KEY, inner]]);
  if (type.instance === "Array") return [inner ?? "probe"];
  return inner ?? first ?? VALUES[type.instance]?.() ?? "probe";
}
