import type { SchemaType } from "mongoose";
import { schemaClass } from "../schema/build_schema.ts";
import { valueType } from "../schema/fields/date_only.ts";
import { fieldDefault } from "../schema/fields/field_default.ts";
import { isJson } from "../schema/fields/json.ts";
import { isHiddenFromSome, type Rights, UNRESTRICTED } from "../schema/fields/rights.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { isRecursive, isSecret, whyUnseen } from "../schema/fields/visibility.ts";
import { memoize } from "../schema/memoize.ts";
import { hasOwnJson } from "../schema/mongoose/documents/hide_in_json.ts";
import { classOf } from "../schema/model_name.ts";
import {
  constraintsOf,
  hasOwnCast,
  hasOwnSetters,
  isAlwaysRequired,
  SETTING_OPTIONS,
} from "../schema/mongoose/schemas/field_rules.ts";
import type { Constraints } from "../schema/mongoose/schemas/field_rules.ts";
import { describeConstraints, describeType } from "./describe_constraints.ts";
import { stampFields } from "../schema/mongoose/schemas/schema_members.ts";

/** @internal A value in a request body or in a response. */
export interface ValueDescription {
  /**
   * `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Buffer`, `ObjectId`, `Decimal128`, `UUID`, `Object` (free form),
   * `Embedded` (with `fields`), `Array` or `Map` (with `items`), or a custom Mongoose type.
   */
  readonly type: string;
  /** `date` for a `Date` whose JSON is a day without a time. */
  readonly format?: "date";
  /** The class of an embedded object or of a reference. */
  readonly model?: string;
  /** An element of an array, or a value of a Map. */
  readonly items?: ValueDescription;
  /** The fields of an embedded object, listed only at the first occurrence of a class that embeds itself. */
  readonly fields?: readonly FieldDescription[];
  /** Whether the value may be `null`, which clears the field in a body. */
  readonly nullable?: boolean;
  readonly enum?: readonly unknown[];
  /** The smallest number or earliest date in a body. */
  readonly minimum?: number | string;
  readonly maximum?: number | string;
  /** In UTF-16 code units, as `maxLength`. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** A regular expression. JSON Schema has no flags, so an expression with flags is left out. */
  readonly pattern?: string;
}

/** @internal A field in a request body or in a response. */
export interface FieldDescription extends ValueDescription {
  readonly name: string;
  /**
   * Whether the field is always present: in a response, if the model has written the entity and no hook has changed it.
   */
  readonly required: boolean;
  /** Whether no request body can set the field. */
  readonly readonly: boolean;
  /**
   * The value in a new entity if the body lacks the field. Absent if it is computed, or if some readers do not see the
   * whole field. A description for one reader has each default that the reader sees.
   */
  readonly default?: unknown;
  readonly summary?: string;
  /** The option `description`, in CommonMark. */
  readonly description?: string;
  readonly deprecated?: boolean;
  /** The option `example`. Missing in a response if it may contain hidden fields. */
  readonly example?: unknown;
}

/**
 * `result` is the answer of an action, `new` the body of a creation, and `changes` the body of `updateAll()`. A PUT has
 * `replacement` if bodies are strict or its key is required, and otherwise `new`. `element` is an element of an array
 * that is sent as a whole.
 */
export type View = "answer" | "result" | "new" | "replacement" | "patch" | "changes" | "element";

export function isAnswer(view: View): boolean {
  return view === "answer" || view === "result";
}

/** Whether a strict body may repeat the stored values of fields that it cannot set. */
export function repeatsStored(view: View): boolean {
  return view === "patch" || view === "replacement" || view === "element";
}

interface ObjectPlace {
  readonly view: View;
  readonly embedded: boolean;
}

export interface ObjectNode {
  readonly view: View;
  /** A nested path of Mongoose has no class. */
  readonly model: string | undefined;
  /** Whether undeclared fields are refused instead of ignored. */
  readonly strict: boolean;
  /**
   * Undeclared fields are accepted even in strict bodies, because the model has `strict: false` or the application
   * makes the JSON.
   */
  readonly isOpen: boolean;
  readonly fields: readonly FieldNode[];
  /** Fields that a body may contain without effect, because a client may send back an entity. */
  readonly ignored: readonly string[];
  /** In strict bodies, these fields can only have their stored values. */
  readonly repeated: readonly FieldNode[];
}

const nodesOf = memoize((_shape: Shape) => new Map<string, ObjectNode>());

/** Fields are described at their first use, or else classes that embed each other would be described for ever. */
export function describeObject(shape: Shape, place: ObjectPlace): ObjectNode {
  const { view, embedded } = place;
  const nodes = nodesOf(shape);
  const key = `${view} ${embedded}`;
  let fields: readonly FieldNode[] | undefined;
  const node: ObjectNode = nodes.get(key) ?? {
    view,
    model: schemaClass(shape)?.name,
    strict: shape.strict,
    isOpen: shape.isOpen ||
      repeatsStored(view) && shape.schema !== undefined && hasOwnJson(shape.schema),
    get repeated() {
      return repeatedNodes(shape, { ...place, fields: this.fields });
    },
    get fields() {
      return fields ??= fieldNodes(shape, place);
    },
    get ignored() {
      const described = new Set(this.fields.map(({ name }) => name));
      return [...shape.fields].filter(([name, field]) =>
        !described.has(name) && (name === "_id" || !field.writable) &&
        whyUnseen(field) === undefined
      ).map(([name]) => name);
    },
  };
  nodes.set(key, node);
  return node;
}

function repeatedNodes(
  shape: Shape,
  { embedded, fields }: ObjectPlace & Pick<ObjectNode, "fields">,
): FieldNode[] {
  const settable = new Set(fields.map(({ name }) => name));
  const ofKinds = [...shape.kinds.values()].flatMap((kind) => fieldNodes(kind, ANSWER));
  const own = fieldNodes(shape, { ...ANSWER, embedded });
  const nodes = [...ofKinds.filter(({ name }) => !shape.fields.has(name)), ...own];
  return nodes.filter(({ name }) => !settable.has(name));
}

const ANSWER: ObjectPlace = { view: "answer", embedded: false };

function fieldNodes(
  { fields, schema, rights }: Shape,
  { view, embedded }: ObjectPlace,
): FieldNode[] {
  const version: unknown = schema?.get("versionKey");
  const stamps = schema === undefined ? {} : stampFields(schema);
  const written = new Set<unknown>(["_id", version, ...Object.values(stamps)]);
  const visible = [...fields].filter(([name, field]) => {
    if (name === version && embedded) return false;
    if (isAnswer(view)) return whyUnseen(field) === undefined;
    if (name === "_id") return view === "element" || view === "new" && field.writable;
    return field.writable;
  });
  return visible.map(([name, field]) =>
    fieldNode(name, { field, view, written: written.has(name), rights })
  );
}

export interface ValueNode extends Pick<ValueDescription, "type" | "model"> {
  readonly items?: ValueNode;
  readonly object?: ObjectNode;
  readonly constraints: Constraints;
  readonly nullable: boolean;
  /** Mongoose refuses an empty string in a required field. */
  readonly filled: boolean;
  /** Options such as `trim`, by which Mongoose changes a string before it checks the constraints. */
  readonly reworked: readonly string[];
  /** A getter, setter, transform or cast of the application determines the value, so its constraints are not known. */
  readonly opaque: boolean;
  /** A function of the application casts the values, so their JSON type is not known. */
  readonly isCast: boolean;
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
  /** Every write through the framework sets the field, so answers have it. */
  readonly written: boolean;
  readonly rights: Rights;
}

function fieldNode(name: string, place: FieldPlace): FieldNode {
  const { field, view, written, rights } = place;
  const { kind, given } = fieldDefault(field);
  const isNew = view === "new" || view === "replacement" || view === "element";
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
    ...isNew && !(isOfSome && rights === UNRESTRICTED) && !isSecret(field) && kind === "constant" &&
      isJson(given) &&
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
  // An update replaces the elements of an array as a whole, but only parts of the values of a Map.
  const below = kind === "array" && (view === "patch" || view === "replacement") ? "element" : view;
  // Mongoose shares one type object between an array of embedded objects and its elements, but its options belong to
  // the array.
  const own = inside !== undefined && shape !== undefined ? undefined : type;
  return {
    type: typeName(field),
    ...model !== undefined && { model },
    ...shape !== undefined &&
      { object: describeObject(shape, { view, embedded: shape.schema !== undefined }) },
    ...element !== undefined &&
      { items: valueNode(element, { view: below, inside: kind as "array" | "map" }) },
    constraints: kind === "scalar" ? constraintsOf(type) : {},
    nullable: view === "answer" ? isShownNull(field, inside) : isTakenNull(field, inside),
    filled: kind === "scalar" && isAlwaysRequired(field.type) && type?.instance === "String",
    reworked: SETTING_OPTIONS.filter((name) => own?.options[name]),
    opaque: own !== undefined && isOpaque(own, { field, view }),
    isCast: own !== undefined && hasOwnCast(own),
  };
}

/** An empty string in a body is stored as `null` for these types. */
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
  return kind === "scalar" ? type ? valueType(type) : "Object" : TYPE_NAMES[kind];
}

function modelOf(type: SchemaType | undefined): string | undefined {
  const ref: unknown = type?.options.ref;
  return (typeof ref === "string" ? classOf(ref) : schemaClass(type))?.name;
}

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
  { object, items, type, model, nullable, constraints }: ValueNode,
  described: Set<ObjectNode>,
): ValueDescription {
  return {
    ...describeType(type),
    ...model !== undefined && { model },
    ...object !== undefined && !described.has(object) &&
      { fields: describeFields(object, described) },
    ...items !== undefined && { items: describeValue(items, described) },
    ...nullable && { nullable },
    ...describeConstraints(constraints, type),
  };
}
