import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { buildSchema, schemaClass, usualSchema } from "../build_schema.ts";
import { referredClass } from "../model_name.ts";
import { kindSchemas } from "../mongoose/schemas/schema_kinds.ts";
import { stampFields, virtualsOf } from "../mongoose/schemas/schema_members.ts";
import { checkKind } from "./check_kinds.ts";
import {
  MOST_RESTRICTED,
  type Restrictions,
  restrictionsIn,
  type Rights,
  UNRESTRICTED,
} from "./rights.ts";
import { isProtected, shapeWithin, whyUnseen } from "./visibility.ts";

const { Types } = mongoose.Schema;

/** The fields of a schema, as a tree. Bodies, filters and answers are read against it. */
export class Shape {
  /** Whether a body with an undeclared field is refused instead of ignored. */
  readonly strict: boolean;
  /** For whom it is: what others may not see is hidden in their own shapes. */
  readonly rights: Rights;
  readonly #fields = new Map<string, FieldShape>();
  /** Missing for an object made of dotted paths. */
  readonly schema: Schema | undefined;
  #joined: ReadonlyMap<string, Shape> | undefined;
  #secretive: boolean | undefined;
  #guarded: boolean | undefined;
  #restrictions: Restrictions | undefined;
  #apart: readonly string[] | undefined;
  #withoutApart: Readonly<Record<string, 0>> | undefined;
  #unselected: readonly string[] | undefined;
  #allUnselected: readonly string[] | undefined;

  constructor({ strict, rights, schema }: Pick<Shape, "strict" | "rights" | "schema">) {
    this.strict = strict;
    this.rights = rights;
    this.schema = schema;
  }

  get fields(): ReadonlyMap<string, FieldShape> {
    return this.#fields;
  }

  add([name = "", ...below]: readonly string[], field: FieldShape): void {
    if (below.length === 0) return void this.#fields.set(name, field);
    let inner = this.fields.get(name)?.shape;
    if (inner === undefined) {
      inner = new Shape({ strict: this.strict, rights: this.rights, schema: undefined });
      this.#fields.set(name, { kind: "object", ...OPEN_FIELD, shape: inner });
    }
    inner.add(below, field);
  }

  /** The shapes of what virtual references bring in when they are populated, by name. */
  get joined(): ReadonlyMap<string, Shape> {
    return this.#joined ??= this.schema === undefined
      ? new Map()
      : joinedShapes(this.schema, this.rights);
  }

  /** The shapes of the kinds (discriminators) of the schema, by name. */
  get kinds(): ReadonlyMap<string, Shape> {
    const kinds = this.schema === undefined ? [] : [...kindSchemas(this.schema)];
    return new Map(kinds.map(([name, kind]) => [name, describeShape(kind, this.rights)]));
  }

  /** Whether a name that is no field may stand for something that is stored. */
  declares(name: string): boolean {
    const schema = this.schema;
    return schema !== undefined &&
      (schema.get("strict") === false || systemPaths(schema).has(name));
  }

  /** The shape of the same schema for other readers. */
  under(rights: Rights): Shape {
    return this.schema === undefined ? this : describeShape(this.schema, rights);
  }

  /** The functions that keep some readers from parts of it, or of what its references lead to. */
  get restrictions(): Restrictions {
    return this.#restrictions ??= restrictionsIn(this);
  }

  /** Whether something in it or below it is hidden. */
  get secretive(): boolean {
    return this.#secretive ??= fieldsWithin(this).some((field) => whyUnseen(field) !== undefined);
  }

  /** Whether something in it or below it is protected: it stays where the object around it is cleared. */
  get guarded(): boolean {
    return this.#guarded ??= fieldsWithin(this).some(isProtected);
  }

  /** The paths that queries leave out unless they are asked for by name: those with `select: false`. */
  get unselected(): readonly string[] {
    return this.#unselected ??= this.allUnselected.filter((path, _index, all) =>
      !all.some((other) => path.startsWith(`${other}.`))
    );
  }

  /** All paths with `select: false`, those inside others included: a read that names them reads everything. */
  get allUnselected(): readonly string[] {
    return this.#allUnselected ??= unselectedIn(this);
  }

  /** The names of the fields that only their own routes show. Nothing that is done to the entity needs them. */
  get apart(): readonly string[] {
    return this.#apart ??= [...this.fields].filter(([, { apart }]) => apart).map(([name]) => name);
  }

  /** The projection that leaves these fields out. */
  get withoutApart(): Readonly<Record<string, 0>> {
    return this.#withoutApart ??= Object.fromEntries(this.apart.map((name) => [name, 0]));
  }
}

export interface FieldShape {
  /** A value; free-form; an object with a shape; a map; an array. */
  readonly kind: "scalar" | "free" | "object" | "map" | "array";
  readonly hidden: boolean;
  /** Whether it is declared as something that no body sets. */
  readonly readonly: boolean;
  /** Whether a body may set it: identifiers, versions and timestamps never. */
  readonly writable: boolean;
  readonly selected: boolean;
  /** Mongoose's type; an object made of dotted paths has none. */
  readonly type?: SchemaType;
  readonly shape?: Shape;
  /** The element of an array, the values of a map. */
  readonly element?: FieldShape;
  /** Whether a body may name only entities that exist. */
  readonly exists?: boolean;
  /** Whether only its own routes show it. */
  readonly apart?: boolean;
  /** The shape of what a reference brings in when it is populated. */
  readonly populated?: Shape | undefined;
}

/** Describes the shape of a schema for some readers, once, after plugins and `configure` have run. */
export function describeShape(schema: Schema, rights = MOST_RESTRICTED): Shape {
  const known = rights.shapes.get(schema);
  if (known !== undefined) return known;
  const usual = usualSchema(schema);
  if (usual !== schema) return describeShape(usual, rights);
  if (rights !== MOST_RESTRICTED) {
    const same = describeShape(schema);
    if (same.restrictions.size === 0) return same;
  }
  const system = systemPaths(schema);
  const shape = new Shape({ strict: schema.get("strict") === "throw", rights, schema });
  rights.shapes.set(schema, shape);
  schema.eachPath((path, type) => {
    if (path.includes("$*")) return;
    const field = describeField(type, { system: system.has(path), rights });
    shape.add(path.split("."), field);
    // Where documents show their virtuals, an alias would show what its field hides.
    for (const alias of field.hidden ? [type.options.alias ?? []].flat() : []) {
      shape.add(alias.split("."), SECRET);
    }
  });
  addVersion(shape, schema);
  if (rights === MOST_RESTRICTED) {
    for (const [name, kind] of shape.kinds) checkKindOf(shape, { name, kind });
  }
  return shape;
}

/** Throws where a kind guards a field of its base otherwise than the base does. */
export function checkKindOf(
  base: Shape,
  { name, kind }: { readonly name: string; readonly kind: Shape },
): void {
  const target = schemaClass(base)?.name;
  checkKind(base, { kind, names: `the kind "${name}"${target ? ` of "${target}"` : ""}` });
}

/** The shape of a schema as a route knows it before a request comes: with all that some reader may see. */
export function shapeForAll(schema: Schema): Shape {
  return describeShape(schema, UNRESTRICTED);
}

/** Mongoose adds the path of the version when it compiles a model; documents show it before as after. */
function addVersion(shape: Shape, schema: Schema): void {
  const name: unknown = schema.get("versionKey");
  if (typeof name !== "string" || shape.fields.has(name)) return;
  shape.add(
    [name],
    describeField(new Types.Number(name, {}), { system: true, rights: shape.rights }),
  );
}

/** Paths that the database or Mongoose sets. */
function systemPaths(schema: Schema): Set<string> {
  const { versionKey, discriminatorKey } = schema.options as Record<string, unknown>;
  const named = (given: unknown, name: string) => typeof given === "string" ? given : name;
  const stamps = Object.values(stampFields(schema)).filter((path) => typeof path === "string");
  return new Set(["_id", named(versionKey, "__v"), named(discriminatorKey, "__t"), ...stamps]);
}

function joinedShapes(schema: Schema, rights: Rights): Map<string, Shape> {
  const shapes = new Map<string, Shape>();
  for (const [name, virtual] of Object.entries(virtualsOf(schema))) {
    const target = referredClass((virtual as { options?: { ref?: unknown } }).options?.ref);
    if (target !== undefined) shapes.set(name, describeShape(buildSchema(target).schema, rights));
  }
  return shapes;
}

function describeField(
  type: SchemaType,
  { system, rights }: { readonly system: boolean; readonly rights: Rights },
): FieldShape {
  const { hidden, readonly, select, exists, apart }: Readonly<Record<string, unknown>> =
    type.options;
  const isHidden = rights.restricts(hidden) || apart === true;
  // Whom a function keeps from seeing a field, it keeps from setting it.
  const isReadonly = rights.restricts(readonly) || isHidden && hidden !== true;
  return Object.assign(describeKind(type, rights), {
    hidden: isHidden,
    readonly: isReadonly,
    writable: !system && !isReadonly,
    selected: select !== false,
    exists: exists === true,
    apart: apart === true,
    type,
  });
}

function describeKind(
  type: SchemaType,
  rights: Rights,
): Pick<FieldShape, "kind" | "shape" | "element" | "populated"> {
  if (type instanceof Types.Mixed) return { kind: "free" };
  if (type instanceof Types.DocumentArray) {
    const element = Object.assign(objectKind(type.schema, rights), OPEN_FIELD, { type });
    return { kind: "array", element };
  }
  if (type instanceof Types.Array || type instanceof Types.Map) {
    const element = type.getEmbeddedSchemaType();
    return {
      kind: type instanceof Types.Map ? "map" : "array",
      element: element
        ? describeField(element, { system: false, rights })
        : { kind: "free", ...OPEN_FIELD },
    };
  }
  if (type instanceof Types.Subdocument) return objectKind(type.schema, rights);
  const { ref } = type.options;
  if (ref === undefined) return { kind: "scalar" };
  return {
    kind: "scalar",
    get populated() {
      const referred = referredClass(ref);
      return referred && describeShape(buildSchema(referred).schema, rights);
    },
  };
}

const OPEN_FIELD = { hidden: false, readonly: false, writable: true, selected: true } as const;
const SECRET: FieldShape = { ...OPEN_FIELD, kind: "free", hidden: true, writable: false };

/** An object with a schema of its own, described when it is needed: a model may embed itself. */
function objectKind(
  schema: Schema,
  rights: Rights,
): { readonly kind: "object"; readonly shape: Shape } {
  return {
    kind: "object",
    get shape() {
      return describeShape(schema, rights);
    },
  };
}

/** Gives the fields of a shape, and of all that it holds, each one once. */
export function fieldsWithin(root: Shape, seen = new Set([root])): FieldShape[] {
  const within = (field: FieldShape): FieldShape[] => {
    const { shape, element } = field;
    const isNew = shape !== undefined && !seen.has(shape);
    if (isNew) seen.add(shape);
    const inner = isNew ? fieldsWithin(shape, seen) : [];
    return [field, ...inner, ...element === undefined ? [] : within(element)];
  };
  return [...root.fields.values()].flatMap(within);
}

function unselectedIn(shape: Shape, above: readonly Shape[] = []): string[] {
  if (above.includes(shape)) return [];
  return [...shape.fields].flatMap(([name, field]) => {
    const inner = shapeWithin(field);
    const below = inner === undefined ? [] : unselectedIn(inner, [...above, shape]);
    return [...field.selected ? [] : [name], ...below.map((path) => `${name}.${path}`)];
  });
}

export function referenceIn(field: FieldShape): FieldShape | undefined {
  const reference = field.kind === "array" ? field.element : field;
  return reference?.kind === "scalar" && reference.type?.options.ref !== undefined
    ? reference
    : undefined;
}
