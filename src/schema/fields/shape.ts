import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { buildSchema } from "../build_schema.ts";
import { classOf, referredClass } from "../model_name.ts";
import { virtualsOf } from "../mongoose/schemas/schema_members.ts";
import { stampFields } from "../mongoose/schemas/timestamps.ts";

const { Types } = mongoose.Schema;

/** What the bodies, filters and answers of the framework know of a schema: its fields, as a tree. */
export interface Shape {
  readonly fields: ReadonlyMap<string, FieldShape>;
  /** The shapes of what virtual references bring in when they are populated, by name. */
  readonly joined: ReadonlyMap<string, Shape>;
  /** Whether something in it or below it is hidden. */
  readonly secretive: boolean;
  /** Whether a body with an undeclared field is refused instead of ignored. */
  readonly strict: boolean;
}

export interface FieldShape {
  /** A value; free-form; an object with a shape; a map; an array. */
  readonly kind: "scalar" | "free" | "object" | "map" | "array";
  readonly hidden: boolean;
  /** Whether a body may set it: identifiers, versions and timestamps never. */
  readonly writable: boolean;
  /** Whether queries read it by default. */
  readonly selected: boolean;
  /** Mongoose's type; an object made of dotted paths has none. */
  readonly type?: SchemaType;
  readonly shape?: Shape;
  /** The element of an array, the values of a map. */
  readonly element?: FieldShape;
  /** Whether a body may name only entities that exist. */
  readonly exists?: boolean;
  /** The shape of what a reference brings in when it is populated. */
  readonly populated?: Shape;
}

const shapes = new WeakMap<Schema, Shape>();

/** Describes the shape of a schema, once, after plugins and `configure` have run. */
export function describeShape(schema: Schema): Shape {
  const known = shapes.get(schema);
  if (known !== undefined) return known;
  const system = systemPaths(schema);
  const shape = openShape(schema.get("strict") === "throw", schema);
  shapes.set(schema, shape);
  schema.eachPath((path, type) => {
    if (path.includes("$*")) return;
    const field = describeField(type, system.has(path));
    addField(shape, { path: path.split("."), field });
    // Where documents show their virtuals, an alias would show what its field hides.
    for (const alias of field.hidden ? [type.options.alias ?? []].flat() : []) {
      addField(shape, { path: alias.split("."), field: SECRET });
    }
  });
  addVersion(shape, schema);
  return shape;
}

/** Mongoose adds the path of the version when it compiles a model; documents show it before as after. */
function addVersion(shape: OpenShape, schema: Schema): void {
  const name: unknown = schema.get("versionKey");
  if (typeof name !== "string" || shape.fields.has(name)) return;
  addField(shape, { path: [name], field: describeField(new Types.Number(name, {}), true) });
}

/** Paths that the database or Mongoose sets. */
function systemPaths(schema: Schema): Set<string> {
  const { versionKey, discriminatorKey } = schema.options as Record<string, unknown>;
  const named = (given: unknown, name: string) => typeof given === "string" ? given : name;
  const stamps = Object.values(stampFields(schema)).filter((path) => typeof path === "string");
  return new Set(["_id", named(versionKey, "__v"), named(discriminatorKey, "__t"), ...stamps]);
}

function joinedShapes(schema: Schema): Map<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const [name, virtual] of Object.entries(virtualsOf(schema))) {
    const target = referredClass((virtual as { options?: { ref?: unknown } }).options?.ref);
    if (target !== undefined) shapes.set(name, describeShape(buildSchema(target).schema));
  }
  return shapes;
}

interface OpenShape extends Shape {
  readonly fields: Map<string, FieldShape>;
}

function openShape(strict: boolean, schema?: Schema): OpenShape {
  let joined: ReadonlyMap<string, Shape> | undefined;
  return {
    get joined() {
      return joined ??= schema === undefined ? new Map() : joinedShapes(schema);
    },
    fields: new Map(),
    strict,
    get secretive(): boolean {
      return isSecretive(this, new Set());
    },
  };
}

function addField(
  shape: OpenShape,
  { path, field }: { path: readonly string[]; field: FieldShape },
): void {
  const [name = "", ...rest] = path;
  if (rest.length === 0) {
    shape.fields.set(name, field);
    return;
  }
  let inner = shape.fields.get(name)?.shape as OpenShape | undefined;
  if (inner === undefined) {
    inner = openShape(shape.strict);
    shape.fields.set(name, { kind: "object", ...UNRESTRICTED, shape: inner });
  }
  addField(inner, { path: rest, field });
}

function describeField(type: SchemaType, system: boolean): FieldShape {
  const { hidden, readonly, select, exists }: Readonly<Record<string, unknown>> = type.options;
  return Object.assign(describeKind(type), {
    hidden: hidden === true,
    writable: !system && readonly !== true,
    selected: select !== false,
    exists: exists === true,
    type,
  });
}

function describeKind(
  type: SchemaType,
): Pick<FieldShape, "kind" | "shape" | "element" | "populated"> {
  if (type instanceof Types.Mixed) return { kind: "free" };
  if (type instanceof Types.DocumentArray) {
    const element = Object.assign(objectKind(type.schema), UNRESTRICTED, { type });
    return { kind: "array", element };
  }
  if (type instanceof Types.Array) {
    const element = type.getEmbeddedSchemaType();
    return {
      kind: "array",
      element: element ? describeField(element, false) : { kind: "free", ...UNRESTRICTED },
    };
  }
  if (type instanceof Types.Map) {
    const element = type.getEmbeddedSchemaType();
    return {
      kind: "map",
      element: element ? describeField(element, false) : { kind: "free", ...UNRESTRICTED },
    };
  }
  if (type instanceof Types.Subdocument) return objectKind(type.schema);
  const referred = typeof type.options.ref === "string" ? classOf(type.options.ref) : undefined;
  if (referred === undefined) return { kind: "scalar" };
  return {
    kind: "scalar",
    get populated() {
      return describeShape(buildSchema(referred).schema);
    },
  };
}

const UNRESTRICTED = { hidden: false, writable: true, selected: true } as const;
const SECRET = { kind: "free", hidden: true, writable: false, selected: true } as const;

/** An object with a schema of its own, described when it is needed: a model may embed itself. */
function objectKind(schema: Schema): { readonly kind: "object"; readonly shape: Shape } {
  return {
    kind: "object",
    get shape() {
      return describeShape(schema);
    },
  };
}

function isSecretive(shape: Shape, seen: Set<Shape>): boolean {
  if (seen.has(shape)) return false;
  seen.add(shape);
  const secret = (field: FieldShape): boolean =>
    field.hidden || !field.selected ||
    (field.shape !== undefined && isSecretive(field.shape, seen)) ||
    (field.element !== undefined && secret(field.element));
  return [...shape.fields.values()].some(secret);
}

export function referenceIn(field: FieldShape): FieldShape | undefined {
  const reference = field.kind === "array" ? field.element : field;
  return reference?.kind === "scalar" && reference.type?.options.ref !== undefined
    ? reference
    : undefined;
}
