import type { SchemaType } from "mongoose";
import { schemaClass } from "./build_schema.ts";
import { fieldDefault } from "./fields/field_default.ts";
import { isJson } from "./fields/json.ts";
import { isHiddenFromSome } from "./fields/rights.ts";
import type { FieldShape, Shape } from "./fields/shape.ts";
import { isRecursive, isSecret, whyUnseen } from "./fields/visibility.ts";
import { memoize } from "./memoize.ts";
import { classOf } from "./model_name.ts";
import {
  declaredRules,
  hasOwnCast,
  hasOwnSetters,
  isAlwaysRequired,
  SETTING_OPTIONS,
} from "./mongoose/schemas/field_rules.ts";
import type { DeclaredRules } from "./mongoose/schemas/field_rules.ts";
import { stampFields } from "./mongoose/schemas/schema_members.ts";

/** A value of a body or an answer. */
export interface ValueDescription {
  /**
   * `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Buffer`, `ObjectId`, `Decimal128`, `UUID`, `Object` (free form),
   * `Embedded` (an object with `fields`), `Array` and `Map` (of `items`), or the name of a type of your own.
   */
  readonly type: string;
  /** The class of an embedded object, or the class that an identifier refers to. */
  readonly model?: string;
  /** The elements of an array, or the values of a Map. */
  readonly items?: ValueDescription;
  /**
   * The fields of an embedded object. Where classes embed themselves or each other, each of them has its fields once in
   * a body or an answer, at its first place.
   */
  readonly fields?: readonly FieldDescription[];
  /** Whether it may be `null`: in an answer, or in a body, where `null` clears a field. */
  readonly nullable?: boolean;
  /** The values that are allowed. */
  readonly enum?: readonly unknown[];
  /** The smallest number, or the first date. */
  readonly minimum?: number | string;
  /** The largest number, or the last date. */
  readonly maximum?: number | string;
  /** The minimum length of a text. */
  readonly minLength?: number;
  /** The maximum length of a text. */
  readonly maxLength?: number;
  /** The regular expression of a text, if it has no flags. */
  readonly pattern?: string;
}

/** A field of a body or an answer. */
export interface FieldDescription extends ValueDescription {
  /** The name. */
  readonly name: string;
  /**
   * Whether the field is always there: in a valid body, or in an entity that was written through the model and that no
   * hook has changed.
   */
  readonly required: boolean;
  /** Whether request bodies cannot set the field. */
  readonly readonly: boolean;
  /** The value of a field that a new entity leaves out, if it is always the same and holds nothing hidden. */
  readonly default?: unknown;
  /** The option `summary`. */
  readonly summary?: string;
  /** The option `description`. */
  readonly description?: string;
  /** The option `deprecated`. */
  readonly deprecated?: boolean;
  /** The option `example`. An answer has none for a field that holds something hidden. */
  readonly example?: unknown;
}

/** An answer, one that need not be stored, or a body: of a creation, a replacement, an update, changes of many, or an element in one. */
export type View = "answer" | "result" | "new" | "replacement" | "patch" | "changes" | "element";

export function isAnswer(view: View): boolean {
  return view === "answer" || view === "result";
}

interface ObjectPlace {
  readonly view: View;
  /** Whether it is stored inside another: it has no version then. */
  readonly embedded: boolean;
}

export interface ObjectNode {
  readonly view: View;
  /** The class. An object made of dotted paths has none. */
  readonly model: string | undefined;
  /** Whether a body may hold declared fields only. */
  readonly strict: boolean;
  readonly fields: readonly FieldNode[];
  /** The fields of a body that are not set, and that answers show. */
  readonly ignored: readonly string[];
}

const nodesOf = memoize((_shape: Shape) => new Map<string, ObjectNode>());

/** Describes an object: once for each shape and view, so that models that embed each other make cycles. */
export function describeObject(shape: Shape, place: ObjectPlace): ObjectNode {
  const { view, embedded } = place;
  const known = nodesOf(shape);
  const key = `${view} ${embedded}`;
  let fields: readonly FieldNode[] | undefined;
  const node: ObjectNode = known.get(key) ?? {
    ...{ view, model: schemaClass(shape)?.name, strict: shape.strict },
    get fields() {
      return fields ??= fieldNodes(shape, place);
    },
    get ignored() {
      const described = new Set(this.fields.map(({ name }) => name));
      return [...shape.fields].filter(([name, field]) =>
        !described.has(name) && !field.writable && whyUnseen(field) === undefined
      ).map(([name]) => name);
    },
  };
  known.set(key, node);
  return node;
}

function fieldNodes({ fields, schema }: Shape, { view, embedded }: ObjectPlace): FieldNode[] {
  const version: unknown = schema?.get("versionKey");
  const stamps = schema === undefined ? {} : stampFields(schema);
  const written = new Set<unknown>(["_id", version, ...Object.values(stamps)]);
  const seen = [...fields].filter(([name, field]) => {
    if (name === version && embedded) return false;
    if (isAnswer(view)) return whyUnseen(field) === undefined;
    return field.writable || view === "element" && name === "_id";
  });
  return seen.map(([name, field]) => fieldNode(name, { field, view, written: written.has(name) }));
}

export interface ValueNode extends Pick<ValueDescription, "type" | "model"> {
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

export interface FieldNode
  extends ValueNode, Pick<FieldDescription, "name" | "required" | "readonly" | "default"> {
  readonly words: FieldWords;
}

interface ValuePlace {
  readonly view: View;
  readonly inside?: "array" | "map";
}

interface FieldPlace extends ValuePlace {
  readonly field: FieldShape;
  /** Whether every write through the framework sets it: identifiers, versions and timestamps. */
  readonly written: boolean;
}

function fieldNode(name: string, place: FieldPlace): FieldNode {
  const { field, view, written } = place;
  const { kind, given } = fieldDefault(field);
  const isNew = view === "new" || view === "element";
  const isOfSome = isHiddenFromSome(field);
  return {
    name,
    ...valueNode(field, place),
    required: !isOfSome &&
      (isAnswer(view)
        ? written && view === "answer" || isAlwaysRequired(field.type) ||
          kind === "constant" && given !== undefined
        : isNew && isAlwaysRequired(field.type) && kind === "nothing"),
    readonly: !field.writable,
    ...isNew && !isOfSome && !isSecret(field) && kind === "constant" && isJson(given) &&
      { default: given },
    words: wordsOf(field, view),
  };
}

function wordsOf(field: FieldShape, view: View): FieldWords {
  const { summary, description, deprecated, example }: Record<string, unknown> =
    field.type?.options ?? {};
  const isShown = example !== undefined && !(isAnswer(view) && isSecret(field));
  return {
    ...typeof summary === "string" && { summary },
    ...typeof description === "string" && { description },
    ...typeof deprecated === "boolean" && { deprecated },
    ...isShown && { example },
  };
}

function valueNode(field: FieldShape, { view, inside }: ValuePlace): ValueNode {
  const { kind, type, shape, element } = field;
  const model = modelOf(type);
  // A patch replaces the elements of an array, and merges into the values of a Map.
  const below = view === "patch" && kind === "array" ? "element" : view;
  // An array of objects has one type for itself and its elements: its options are those of the array.
  const own = inside !== undefined && shape !== undefined ? undefined : type;
  return {
    type: typeName(field),
    ...model !== undefined && { model },
    ...shape !== undefined &&
      { object: describeObject(shape, { view, embedded: shape.schema !== undefined }) },
    ...element !== undefined &&
      { items: valueNode(element, { view: below, inside: kind as "array" | "map" }) },
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
  if (inside === "array" || fieldDefault(field).given === null) return true;
  if (kind !== "scalar" || !writable || isAlwaysRequired(type)) return false;
  return CLEARED.has(type?.instance ?? "");
}

function isTakenNull({ kind, type }: FieldShape, inside: ValuePlace["inside"]): boolean {
  return inside !== undefined || kind === "array" || !isAlwaysRequired(type);
}

function isOpaque(type: SchemaType, { field, view }: Pick<FieldPlace, "field" | "view">): boolean {
  if (isAnswer(view)) return ["get", "transform"].some((name) => type.options[name] !== undefined);
  return field.kind === "scalar" && (hasOwnCast(type) || hasOwnSetters(type));
}

const TYPE_NAMES = { free: "Object", object: "Embedded", array: "Array", map: "Map" } as const;

export function typeName({ kind, type }: FieldShape): string {
  return kind === "scalar" ? type?.instance ?? "Object" : TYPE_NAMES[kind];
}

function modelOf(type: SchemaType | undefined): string | undefined {
  const ref: unknown = type?.options.ref;
  return (typeof ref === "string" ? classOf(ref) : schemaClass(type))?.name;
}

/** Describes the fields of an object as a tree: objects that embed themselves are described once. */
export function describeFields(
  node: ObjectNode,
  described = new Set<ObjectNode>(),
): FieldDescription[] {
  if (isRecursive(node, objectsIn)) described.add(node);
  return node.fields.map((field) => ({
    ...describeValue(field, described),
    name: field.name,
    required: field.required,
    readonly: field.readonly,
    ..."default" in field && { default: field.default },
    ...field.words,
  }));
}

const objectsIn = ({ fields }: ObjectNode): readonly ObjectNode[] => fields.flatMap(objectIn);

function objectIn({ object, items }: ValueNode): readonly ObjectNode[] {
  return object ? [object] : items ? objectIn(items) : [];
}

function describeValue(
  { object, items, type, model, nullable, rules }: ValueNode,
  described: Set<ObjectNode>,
): ValueDescription {
  return {
    type,
    ...model !== undefined && { model },
    ...object !== undefined && !described.has(object) &&
      { fields: describeFields(object, described) },
    ...items !== undefined && { items: describeValue(items, described) },
    ...nullable && { nullable },
    ...tellRules(rules),
  };
}

function tellRules({ match, enum: allowed, ...bounds }: DeclaredRules) {
  const told = Object.entries(bounds).map(([name, bound]) =>
    [name, bound instanceof Date ? bound.toJSON() : bound] as const
  );
  return {
    ...isJson(allowed) && { enum: allowed as readonly unknown[] },
    ...Object.fromEntries(told),
    ...match?.flags === "" && { pattern: match.source },
  };
}
