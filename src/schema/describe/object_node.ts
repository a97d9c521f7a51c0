import type { Schema, SchemaType } from "mongoose";
import { schemaClass } from "../build_schema.ts";
import { isSecret } from "../fields/visibility.ts";
import { isJson } from "../fields/json.ts";
import { isHiddenFromSome } from "../fields/rights.ts";
import { fieldDefault } from "../fields/field_default.ts";
import type { FieldShape, Shape } from "../fields/shape.ts";
import { classOf } from "../model_name.ts";
import {
  declaredRules,
  hasOwnCast,
  hasOwnSetters,
  isAlwaysRequired,
  SETTING_OPTIONS,
} from "../mongoose/schemas/field_rules.ts";
import type { DeclaredRules } from "../mongoose/schemas/field_rules.ts";
import type { FieldDescription } from "./describe_fields.ts";
import { stampFields } from "../mongoose/schemas/schema_members.ts";

/** An answer, a body that makes something new, one that changes something, or an element of an array in one. */
export type View = "answer" | "new" | "patch" | "element";

interface ObjectPlace {
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
  const node = known.get(key) ?? new ObjectNode(shape, place);
  known.set(key, node);
  return node;
}

/** An object of a body or an answer. There is one node for each shape and view, so models that embed each other make cycles. */
export class ObjectNode {
  readonly view: View;
  /** The class. An object made of dotted paths has none. */
  readonly model: string | undefined;
  /** Whether a body may hold declared fields only. */
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

  /** The fields, described when they are first asked for. */
  get fields(): readonly FieldNode[] {
    return this.#fields ??= describeFields(this.#shape, this.#place);
  }

  /** The fields of a body that are not set, and that answers show. */
  get ignored(): readonly string[] {
    const described = new Set(this.fields.map(({ name }) => name));
    return [...this.#shape.fields].filter(([name, { hidden, selected, writable }]) =>
      !described.has(name) && !writable && !hidden && selected
    ).map(([name]) => name);
  }

  /** Whether it embeds itself, directly or through others. */
  get recursive(): boolean {
    return this.#recursive ??= objectsWithin(this).has(this);
  }
}

function describeFields({ fields }: Shape, { view, schema, embedded }: ObjectPlace): FieldNode[] {
  const version: unknown = schema?.get("versionKey");
  const stamps = schema === undefined ? {} : stampFields(schema);
  const written = new Set<unknown>(["_id", version, ...Object.values(stamps)]);
  const seen = [...fields].filter(([name, { hidden, selected, writable }]) => {
    if (name === version && embedded) return false;
    if (view === "answer") return !hidden && selected;
    return writable || view === "element" && name === "_id";
  });
  return seen.map(([name, field]) =>
    describeFieldNode(name, { field, view, written: written.has(name) })
  );
}

function objectsWithin(node: ObjectNode, found = new Set<ObjectNode>()): Set<ObjectNode> {
  for (const field of node.fields) {
    const inner = objectIn(field);
    if (inner === undefined || found.has(inner)) continue;
    objectsWithin(inner, found.add(inner));
  }
  return found;
}

/** Gives the object that a value holds, in arrays and Maps too. */
function objectIn({ object, items }: ValueNode): ObjectNode | undefined {
  return object ?? (items && objectIn(items));
}

export interface ValueNode {
  /** The name of its type, as in `ValueDescription`. */
  readonly type: string;
  /** The class of an embedded object, or the class that an identifier refers to. */
  readonly model?: string;
  /** The elements of an array, or the values of a Map. */
  readonly items?: ValueNode;
  readonly object?: ObjectNode;
  readonly rules: DeclaredRules;
  readonly nullable: boolean;
  /** Whether a body must not leave a text empty. */
  readonly filled: boolean;
  /** The options that change a text of a body before the rules apply. */
  readonly reworked: readonly string[];
  /** Whether functions of the application decide what it may be. */
  readonly opaque: boolean;
}

type FieldWords = Pick<FieldDescription, "summary" | "description" | "deprecated" | "example">;

export interface FieldNode extends ValueNode {
  readonly name: string;
  readonly required: boolean;
  readonly readonly: boolean;
  /** The value in a body that leaves it out, if that is a value of JSON and no secret. */
  readonly default?: unknown;
  readonly words: FieldWords;
}

interface ValuePlace {
  readonly view: View;
  /** The kind of its holder, if it is an element. */
  readonly inside?: "array" | "map";
}

interface FieldPlace extends ValuePlace {
  readonly field: FieldShape;
  /** Whether every write through the framework sets it: identifiers, versions and timestamps. */
  readonly written: boolean;
}

function describeFieldNode(name: string, place: FieldPlace): FieldNode {
  const { field, view, written } = place;
  const { kind, given } = fieldDefault(field);
  const isNew = view === "new" || view === "element";
  return {
    name,
    ...describeValue(field, place),
    required: view === "answer"
      ? !isHiddenFromSome(field) &&
        (written || isAlwaysRequired(field.type) || kind === "constant" && given !== undefined)
      : isNew && isAlwaysRequired(field.type) && kind === "nothing" && !isHiddenFromSome(field),
    readonly: !field.writable,
    ...isNew && !isSecret(field) && kind === "constant" && isJson(given) && { default: given },
    words: wordsOf(field, view),
  };
}

function wordsOf(field: FieldShape, view: View): FieldWords {
  const { summary, description, deprecated, example }: Record<string, unknown> =
    field.type?.options ?? {};
  const isShown = example !== undefined && !(view === "answer" && isSecret(field));
  return {
    ...typeof summary === "string" && { summary },
    ...typeof description === "string" && { description },
    ...typeof deprecated === "boolean" && { deprecated },
    ...isShown && { example },
  };
}

function describeValue(field: FieldShape, { view, inside }: ValuePlace): ValueNode {
  const { kind, type, shape, element } = field;
  const model = modelOf(type);
  const schema = (type as { schema?: Schema } | undefined)?.schema;
  // A patch replaces the elements of an array, and merges into the values of a Map.
  const below = view === "patch" && kind === "array" ? "element" : view;
  const embedded = schema !== undefined;
  // An array of objects has one type for itself and its elements: its options are those of the array.
  const own = inside !== undefined && shape !== undefined ? undefined : type;
  return {
    type: typeName(field),
    ...model !== undefined && { model },
    ...shape !== undefined && { object: describeObject(shape, { view, schema, embedded, model }) },
    ...element !== undefined &&
      { items: describeValue(element, { view: below, inside: kind as "array" | "map" }) },
    rules: kind === "scalar" ? declaredRules(type) : {},
    nullable: view === "answer" ? isShownNull(field, inside) : isTakenNull(field, inside),
    filled: kind === "scalar" && isAlwaysRequired(field.type) && type?.instance === "String",
    reworked: SETTING_OPTIONS.filter((name) => own?.options[name]),
    opaque: own !== undefined && isOpaque(own, { field, view }),
  };
}

/** The types of which Mongoose stores `null` for an empty text. */
const CLEARED = new Set(["Number", "Int32", "Double", "BigInt", "Date"]);

function isShownNull(field: FieldShape, inside: ValuePlace["inside"]): boolean {
  const { type, kind, writable } = field;
  if (inside === "array") return true;
  if (fieldDefault(field).given === null) return true;
  return kind === "scalar" && writable && CLEARED.has(type?.instance ?? "") &&
    !isAlwaysRequired(field.type);
}

function isTakenNull(field: FieldShape, inside: ValuePlace["inside"]): boolean {
  return inside !== undefined || field.kind === "array" || !isAlwaysRequired(field.type);
}

function isOpaque(type: SchemaType, { field, view }: Pick<FieldPlace, "field" | "view">): boolean {
  const { get, transform } = type.options as Record<string, unknown>;
  if (view === "answer") return get !== undefined || transform !== undefined;
  return field.kind === "scalar" && (hasOwnCast(type) || hasOwnSetters(type));
}

const TYPE_NAMES = { free: "Object", object: "Embedded", array: "Array", map: "Map" } as const;

export function typeName({ kind, type }: FieldShape): string {
  return kind === "scalar" ? type?.instance ?? "Object" : TYPE_NAMES[kind];
}

function modelOf(type: SchemaType | undefined): string | undefined {
  const ref: unknown = type?.options.ref;
  const target = typeof ref === "string" ? classOf(ref) : schemaClass(type);
  return target?.name;
}
