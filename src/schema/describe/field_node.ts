import type { Schema, SchemaType } from "mongoose";
import { schemaClass } from "../build_schema.ts";
import { isSecret } from "../fields/is_secret.ts";
import { isJson } from "../fields/json.ts";
import { leftOut } from "../fields/left_out.ts";
import type { FieldShape } from "../fields/shape.ts";
import { classOf } from "../model_name.ts";
import {
  declaredRules,
  hasOwnCast,
  hasOwnSetters,
  isAlwaysRequired,
  SETTING_OPTIONS,
} from "../mongoose/schemas/field_rules.ts";
import type { DeclaredRules } from "../mongoose/schemas/field_rules.ts";
import type { describeObject, ObjectNode, View } from "./object_node.ts";

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

/** What the options of a field tell people. */
export interface FieldWords {
  readonly summary?: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly example?: unknown;
}

export interface FieldNode extends ValueNode {
  readonly name: string;
  readonly required: boolean;
  readonly readonly: boolean;
  /** What a body that leaves it out gives it, if that is a value of JSON and no secret. */
  readonly default?: unknown;
  readonly words: FieldWords;
}

interface ValuePlace {
  readonly view: View;
  /** What holds the value, if it is an element. */
  readonly inside?: "array" | "map";
  /** What describes the objects that it holds. */
  readonly objects: typeof describeObject;
}

interface FieldPlace extends ValuePlace {
  readonly field: FieldShape;
  /** Whether every write through the framework sets it: identifiers, versions and timestamps. */
  readonly written: boolean;
}

export function describeFieldNode(name: string, place: FieldPlace): FieldNode {
  const { field, view, written } = place;
  const left = leftOut(field);
  const isNew = view === "new" || view === "element";
  return {
    name,
    ...describeValue(field, place),
    required: view === "answer"
      ? written || isAlwaysRequired(field.type) || isAlwaysGiven(field)
      : isNew && isAlwaysRequired(field.type) && left.kind === "nothing",
    readonly: !field.writable,
    ...isNew && !isSecret(field) && left.kind === "constant" && isJson(left.given) &&
      { default: left.given },
    words: wordsOf(field, view),
  };
}

/** Whether a default is shown where nothing is stored. */
function isAlwaysGiven(field: FieldShape): boolean {
  const { kind, given } = leftOut(field);
  return kind === "constant" && given !== undefined;
}

function wordsOf(field: FieldShape, view: View): FieldWords {
  const words = (field.type?.options ?? {}) as FieldWords;
  const { summary, description, deprecated, example } = words;
  const isShown = example !== undefined && !(view === "answer" && isSecret(field));
  return {
    ...typeof summary === "string" && { summary },
    ...typeof description === "string" && { description },
    ...typeof deprecated === "boolean" && { deprecated },
    ...isShown && { example },
  };
}

function describeValue(field: FieldShape, { view, inside, objects }: ValuePlace): ValueNode {
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
    ...shape !== undefined && { object: objects(shape, { view, schema, embedded, model }) },
    ...element !== undefined &&
      { items: describeValue(element, { view: below, inside: kind as "array" | "map", objects }) },
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
  if (leftOut(field).given === null) return true;
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

export function typeName({ kind, type }: FieldShape): string {
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
