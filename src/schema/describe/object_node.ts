import type { Schema, SchemaType } from "mongoose";
import { schemaClass } from "../build_schema.ts";
import { leftOut } from "../fields/left_out.ts";
import type { FieldShape, Shape } from "../fields/shape.ts";
import { classOf } from "../model_name.ts";
import { isRequired } from "../mongoose/fields/field_rules.ts";

/** What is described: an answer, a body that makes something new, or a body that changes something. */
export type View = "answer" | "new" | "patch";

/** An object of a body or an answer. There is one node for each shape and view, so models that embed each other make cycles. */
export interface ObjectNode {
  readonly view: View;
  /** The class. An object made of dotted paths has none. */
  readonly model: string | undefined;
  /** The fields, described when they are first asked for. */
  readonly fields: readonly FieldNode[];
  /** Whether it embeds itself, directly or through others. */
  readonly recursive: boolean;
}

/** A value of a body or an answer. */
export interface ValueNode {
  /** The name of its type, as in `ValueDescription`. */
  readonly type: string;
  /** The class of an embedded object, or the class that an identifier refers to. */
  readonly model?: string;
  /** The elements of an array, or the values of a Map. */
  readonly items?: ValueNode;
  readonly object?: ObjectNode;
}

/** A field of a body or an answer. */
export interface FieldNode extends ValueNode {
  readonly name: string;
  readonly required: boolean;
  readonly readonly: boolean;
}

/** How an object stands in what is described. */
export interface ObjectPlace {
  readonly view: View;
  /** Its schema, if it is embedded: it has no version then. */
  readonly embedded?: Schema | undefined;
  readonly model?: string | undefined;
}

const nodes = new WeakMap<Shape, Map<string, ObjectNode>>();

/** Describes an object: once for each shape and view. */
export function describeObject(shape: Shape, place: ObjectPlace): ObjectNode {
  const known = nodes.get(shape) ?? new Map<string, ObjectNode>();
  nodes.set(shape, known);
  const key = `${place.view} ${place.embedded !== undefined}`;
  const node = known.get(key) ?? new Described(shape, place);
  known.set(key, node);
  return node;
}

class Described implements ObjectNode {
  readonly view: View;
  readonly model: string | undefined;
  readonly #shape: Shape;
  readonly #version: unknown;
  #fields: readonly FieldNode[] | undefined;
  #recursive: boolean | undefined;

  constructor(shape: Shape, { view, embedded, model }: ObjectPlace) {
    this.view = view;
    this.model = model;
    this.#shape = shape;
    this.#version = embedded?.get("versionKey");
  }

  get fields(): readonly FieldNode[] {
    return this.#fields ??= [...this.#shape.fields]
      .filter(([name, field]) => name !== this.#version && isSeen(field, this.view))
      .map(([name, field]) => describeField(name, { field, view: this.view }));
  }

  get recursive(): boolean {
    return this.#recursive ??= reaches(this, { target: this, seen: new Set() });
  }
}

function reaches(
  node: ObjectNode,
  { target, seen }: { readonly target: ObjectNode; readonly seen: Set<ObjectNode> },
): boolean {
  return node.fields.some((field) => {
    const inner = objectIn(field);
    if (inner === undefined) return false;
    if (inner === target) return true;
    if (seen.has(inner)) return false;
    seen.add(inner);
    return reaches(inner, { target, seen });
  });
}

/** Gives the object that a value holds, in arrays and Maps too. */
function objectIn({ object, items }: ValueNode): ObjectNode | undefined {
  return object ?? (items && objectIn(items));
}

interface Seen {
  readonly field: FieldShape;
  readonly view: View;
}

function isSeen({ hidden, selected, writable }: FieldShape, view: View): boolean {
  return view === "answer" ? !hidden && selected : writable;
}

function describeField(name: string, { field, view }: Seen): FieldNode {
  return {
    name,
    ...describeValue(field, view),
    required: isAlwaysThere(field, view),
    readonly: !field.writable,
  };
}

function isAlwaysThere(field: FieldShape, view: View): boolean {
  if (view === "patch" || !isRequired(field.type)) return false;
  return view === "answer" || leftOut(field).kind === "nothing";
}

function describeValue(field: FieldShape, view: View): ValueNode {
  const { kind, type, shape, element } = field;
  const model = modelOf(type);
  const embedded = (type as { schema?: Schema } | undefined)?.schema;
  // A patch replaces the elements of an array, and merges into the values of a Map.
  const inner = view === "patch" && kind === "array" ? "new" : view;
  return {
    type: typeName(field),
    ...model !== undefined && { model },
    ...shape !== undefined && { object: describeObject(shape, { view, embedded, model }) },
    ...element !== undefined && { items: describeValue(element, inner) },
  };
}

function typeName({ kind, type }: FieldShape): string {
  switch (kind) {
    case "free":
      return "Object";
    case "object":
      return "Embedded";
    case "array":
      return "Array";
    case "map":
      return "Map";
    default:
      return type?.instance ?? "Object";
  }
}

function modelOf(type: SchemaType | undefined): string | undefined {
  const ref: unknown = type?.options.ref;
  const target = typeof ref === "string" ? classOf(ref) : schemaClass(type);
  return target?.name;
}
