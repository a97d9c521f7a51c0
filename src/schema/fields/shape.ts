import mongoose from "mongoose";
import type { Schema, SchemaType } from "mongoose";
import { isAdopted } from "../adopted/adoption.ts";
import { showsVirtual } from "../adopted/shown_virtuals.ts";
import { buildSchema, schemaClass, usualSchema } from "../build_schema.ts";
import { referredClass } from "../model_name.ts";
import { isGivenId } from "../mongoose/schemas/field_rules.ts";
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

export class Shape {
  /** `true` if undeclared fields of a body are refused instead of ignored. */
  readonly strict: boolean;
  readonly isOpen: boolean;
  readonly rights: Rights;
  readonly #fields = new Map<string, FieldShape>();
  /** A nested path of Mongoose has no schema. */
  readonly schema: Schema | undefined;
  #virtualShapes: ReadonlyMap<string, Shape> | undefined;
  #secretive: boolean | undefined;
  #guarded: boolean | undefined;
  #restrictions: Restrictions | undefined;
  #apart: readonly string[] | undefined;
  #withoutApart: Readonly<Record<string, 0>> | undefined;
  #unselected: readonly string[] | undefined;
  #allUnselected: readonly string[] | undefined;

  constructor(
    { strict, isOpen, rights, schema }: Pick<Shape, "strict" | "isOpen" | "rights" | "schema">,
  ) {
    this.strict = strict;
    this.isOpen = isOpen;
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
      const { strict, isOpen, rights } = this;
      inner = new Shape({ strict, isOpen, rights, schema: undefined });
      this.#fields.set(name, { kind: "object", ...OPEN_FIELD, shape: inner });
    }
    inner.add(below, field);
  }

  get virtualShapes(): ReadonlyMap<string, Shape> {
    return this.#virtualShapes ??= this.schema === undefined
      ? new Map()
      : referredShapes(this.schema, this.rights);
  }

  get kinds(): ReadonlyMap<string, Shape> {
    const schemas = this.schema === undefined ? undefined : kindSchemas(this.schema);
    if (schemas === undefined || schemas.size === 0) return NO_KINDS;
    const shapes = [...schemas].map(([name, kind]) =>
      [name, describeShape(kind, this.rights)] as const
    );
    return new Map(shapes);
  }

  /** Whether a field without a declaration may be stored: Mongoose sets it, or `strict` is `false`. */
  declares(name: string): boolean {
    const schema = this.schema;
    return schema !== undefined &&
      (schema.get("strict") === false || systemPaths(schema).has(name));
  }

  under(rights: Rights): Shape {
    return this.schema === undefined ? this : describeShape(this.schema, rights);
  }

  get restrictions(): Restrictions {
    return this.#restrictions ??= restrictionsIn(this);
  }

  /** `true` if a field at any depth is hidden or unselected. */
  get secretive(): boolean {
    return this.#secretive ??= fieldsWithin(this).some((field) => whyUnseen(field) !== undefined);
  }

  /** `true` if a field at any depth is hidden, unselected or read-only, and must stay if the object is cleared. */
  get guarded(): boolean {
    return this.#guarded ??= fieldsWithin(this).some(isProtected);
  }

  /** Mongoose excludes these paths from its reads, so reads without Mongoose must exclude them too. */
  get unselected(): readonly string[] {
    return this.#unselected ??= this.allUnselected.filter((path, _index, all) =>
      !all.some((other) => path.startsWith(`${other}.`))
    );
  }

  /** A query for the whole document must select each of these paths by name (`+path`). */
  get allUnselected(): readonly string[] {
    return this.#allUnselected ??= unselectedIn(this);
  }

  get apart(): readonly string[] {
    return this.#apart ??= [...this.fields].filter(([, { apart }]) => apart).map(([name]) => name);
  }

  get withoutApart(): Readonly<Record<string, 0>> {
    return this.#withoutApart ??= Object.fromEntries(this.apart.map((name) => [name, 0]));
  }
}

export interface FieldShape {
  /** A `free` value may have any content, and the keys of a `map` are data. */
  readonly kind: "scalar" | "free" | "object" | "map" | "array";
  readonly hidden: boolean;
  readonly readonly: boolean;
  readonly writable: boolean;
  readonly selected: boolean;
  /** The field has separate routes, such as PUT of a file, and bodies cannot change it. */
  readonly managed?: boolean;
  readonly type?: SchemaType;
  readonly shape?: Shape;
  readonly element?: FieldShape;
  readonly exists?: boolean;
  /** The field has separate routes, and other routes do not show it. */
  readonly apart?: boolean;
  readonly populated?: Shape | undefined;
}

const NO_KINDS: ReadonlyMap<string, Shape> = new Map();

/** A schema is described once, so plugins and `configure()` must add their fields before. */
export function describeShape(schema: Schema, rights = MOST_RESTRICTED): Shape {
  const cached = rights.shapes.get(schema);
  if (cached !== undefined) return cached;
  const usual = usualSchema(schema);
  if (usual !== schema) return describeShape(usual, rights);
  if (rights !== MOST_RESTRICTED) {
    const same = describeShape(schema);
    if (same.restrictions.size === 0) return same;
  }
  const system = systemPaths(schema);
  const strict = schema.get("strict");
  const isOpen = strict === false;
  const shape = new Shape({ strict: strict === "throw", isOpen, rights, schema });
  rights.shapes.set(schema, shape);
  schema.eachPath((path, type) => {
    if (path.includes("$*")) return;
    const field = describeField(type, { system: system.has(path), rights });
    shape.add(path.split("."), field);
    // A document with virtuals would show a hidden value under its alias.
    for (const alias of field.hidden ? [type.options.alias ?? []].flat() : []) {
      shape.add(alias.split("."), SECRET);
    }
  });
  if (isAdopted(schema)) {
    hideVirtuals(shape, schema);
    hideEmpty(shape);
  }
  addVersion(shape, schema);
  if (rights === MOST_RESTRICTED) {
    for (const [name, kind] of shape.kinds) checkKindOf(shape, { name, kind });
  }
  return shape;
}

/** A hook's copy of a document contains even nested virtuals that must not be shown. */
function hideVirtuals(shape: Shape, schema: Schema): void {
  for (const name of Object.keys(virtualsOf(schema))) {
    const [first = "", ...below] = name.split(".");
    const isNested = below.length > 0 && shape.fields.get(first)?.shape !== undefined;
    if (isNested && !showsVirtual(schema, name)) shape.add([first, ...below], SECRET);
  }
}

/** A nested path without shown fields would be an empty object in answers. */
function hideEmpty({ fields }: Shape): void {
  for (const field of fields.values()) {
    if (field.type !== undefined || field.shape === undefined) continue;
    hideEmpty(field.shape);
    const hidden = [...field.shape.fields.values()].every((each) => each.hidden);
    Object.assign(field, { hidden });
  }
}

export function checkKindOf(
  base: Shape,
  { name, kind }: { readonly name: string; readonly kind: Shape },
): void {
  const target = schemaClass(base)?.name;
  checkKind(base, { kind, names: `the kind "${name}"${target ? ` of "${target}"` : ""}` });
}

export function shapeForAll(schema: Schema): Shape {
  return describeShape(schema, UNRESTRICTED);
}

function addVersion(shape: Shape, schema: Schema): void {
  const name: unknown = schema.get("versionKey");
  if (typeof name !== "string" || shape.fields.has(name)) return;
  shape.add(
    [name],
    describeField(new Types.Number(name, {}), { system: true, rights: shape.rights }),
  );
}

function systemPaths(schema: Schema): Set<string> {
  const { versionKey, discriminatorKey } = schema.options as Record<string, unknown>;
  const named = (given: unknown, name: string) => typeof given === "string" ? given : name;
  const stamps = Object.values(stampFields(schema)).filter((path) => typeof path === "string");
  const id = isGivenId(schema) ? [] : ["_id"];
  return new Set([...id, named(versionKey, "__v"), named(discriminatorKey, "__t"), ...stamps]);
}

function referredShapes(schema: Schema, rights: Rights): Map<string, Shape> {
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
  const { hidden, readonly, select, exists, apart, managed }: Readonly<Record<string, unknown>> =
    type.options;
  const isHidden = rights.restricts(hidden) || apart === true;
  // A reader must not set a field that a function hides from him.
  const isReadonly = rights.restricts(readonly) || isHidden && hidden !== true;
  return Object.assign(describeKind(type, rights), {
    hidden: isHidden,
    readonly: isReadonly,
    writable: !system && !isReadonly && managed !== true,
    selected: select !== false,
    exists: exists === true,
    apart: apart === true,
    managed: managed === true,
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

/** The shape is described lazily, because a model may embed itself. */
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

export function fieldsWithin(root: Shape, visited = new Set([root])): FieldShape[] {
  const within = (field: FieldShape): FieldShape[] => {
    const { shape, element } = field;
    const isNew = shape !== undefined && !visited.has(shape);
    if (isNew) visited.add(shape);
    const inner = isNew ? fieldsWithin(shape, visited) : [];
    return [field, ...inner, ...element === undefined ? [] : within(element)];
  };
  const ofKinds = [...root.kinds.values()].filter((kind) => !visited.has(kind)).flatMap((kind) =>
    fieldsWithin(kind, visited.add(kind))
  );
  return [...[...root.fields.values()].flatMap(within), ...ofKinds];
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
