import type { Schema } from "mongoose";
import type { Shape } from "../fields/shape.ts";
import { stampFields } from "../mongoose/schemas/schema_members.ts";
import { describeFieldNode } from "./field_node.ts";
import type { FieldNode, ValueNode } from "./field_node.ts";

/** An answer, a body that makes something new, one that changes something, or an element of an array in one. */
export type View = "answer" | "new" | "patch" | "element";

/** An object of a body or an answer. There is one node for each shape and view, so models that embed each other make cycles. */
export interface ObjectNode {
  readonly view: View;
  /** The class. An object made of dotted paths has none. */
  readonly model: string | undefined;
  /** Whether a body may hold declared fields only. */
  readonly strict: boolean;
  /** The fields, described when they are first asked for. */
  readonly fields: readonly FieldNode[];
  /** The fields of a body that are not set, and that answers show. */
  readonly ignored: readonly string[];
  /** Whether it embeds itself, directly or through others. */
  readonly recursive: boolean;
}

export interface ObjectPlace {
  readonly view: View;
  readonly schema: Schema | undefined;
  /** Whether it is stored inside another: it has no version then. */
  readonly embedded: boolean;
  readonly model: string | undefined;
}

const nodes = new WeakMap<Shape, Map<string, ObjectNode>>();

/** Describes an object: once for each shape and view. */
export function describeObject(shape: Shape, place: ObjectPlace): ObjectNode {
  const known = nodes.get(shape) ?? new Map<string, ObjectNode>();
  nodes.set(shape, known);
  const key = `${place.view} ${place.embedded}`;
  const node = known.get(key) ?? new Described(shape, place);
  known.set(key, node);
  return node;
}

class Described implements ObjectNode {
  readonly view: View;
  readonly model: string | undefined;
  readonly strict: boolean;
  readonly #shape: Shape;
  readonly #place: ObjectPlace;
  #fields: readonly FieldNode[] | undefined;
  #recursive: boolean | undefined;

  constructor(shape: Shape, place: ObjectPlace) {
    this.view = place.view;
    this.model = place.model;
    this.strict = shape.strict;
    this.#shape = shape;
    this.#place = place;
  }

  get fields(): readonly FieldNode[] {
    return this.#fields ??= describeFields(this.#shape, this.#place);
  }

  get ignored(): readonly string[] {
    const described = new Set(this.fields.map(({ name }) => name));
    return [...this.#shape.fields].filter(([name, { hidden, selected, writable }]) =>
      !described.has(name) && !writable && !hidden && selected
    ).map(([name]) => name);
  }

  get recursive(): boolean {
    return this.#recursive ??= reaches(this, { target: this, seen: new Set() });
  }
}

function describeFields({ fields }: Shape, { view, schema, embedded }: ObjectPlace): FieldNode[] {
  const version: unknown = schema?.get("versionKey");
  const written = new Set<unknown>(["_id", version, ...stamps(schema)]);
  const seen = [...fields].filter(([name, { hidden, selected, writable }]) => {
    if (name === version && embedded) return false;
    if (view === "answer") return !hidden && selected;
    return writable || view === "element" && name === "_id";
  });
  return seen.map(([name, field]) =>
    describeFieldNode(name, { field, view, written: written.has(name), objects: describeObject })
  );
}

function stamps(schema: Schema | undefined): unknown[] {
  return schema === undefined ? [] : Object.values(stampFields(schema));
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
