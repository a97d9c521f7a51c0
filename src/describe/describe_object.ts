import type { SchemaType } from "mongoose";
import { schemaClass } from "../schema/build_schema.ts";
import { valueType } from "../schema/fields/date_only.ts";
import { fieldDefault } from "../schema/fields/field_default.ts";
import { isJson } from "../schema/fields/json.ts";
import { isHiddenFromSome } from "../schema/fields/rights.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { isRecursive, isSecret, whyUnseen } from "../schema/fields/visibility.ts";
import { memoize } from "../schema/memoize.ts";
import { hasOwnJson } from "../schema/mongoose/documents/hide_in_json.ts";
import { classOf } from "../schema/model_name.ts";
import {
  declaredRules,
  hasOwnCast,
  hasOwnSetters,
  isAlwaysRequired,
  SETTING_OPTIONS,
} from "../schema/mongoose/schemas/field_rules.ts";
import type { DeclaredRules } from "../schema/mongoose/schemas/field_rules.ts";
import { describeType, tellRules } from "./tell_rules.ts";
import { stampFields } from "../schema/mongoose/schemas/schema_members.ts";

/** @internal The description of a value in a request body or in a response, in the result of `Framework.describe()`. */
export interface ValueDescription {
  /**
   * The name of the type, which is `String`, `Number`, `Boolean`, `Date`, `BigInt`, `Buffer`, `ObjectId`, `Decimal128`,
   * `UUID`, `Object` (free form), `Embedded` (an object with `fields`), `Array` or `Map` (with `items`), or the name of
   * a custom Mongoose type.
   */
  readonly type: string;
  /** `date` for a `Date` whose JSON is a day without a time. */
  readonly format?: "date";
  /** The name of the class of an embedded object, or of the class to which an identifier refers. */
  readonly model?: string;
  /** The description of each element of an array, or of each value of a Map. */
  readonly items?: ValueDescription;
  /**
   * The fields of an embedded object. If a class embeds itself, its fields are listed only where the class occurs
   * first, because the description would be infinite otherwise.
   */
  readonly fields?: readonly FieldDescription[];
  /** Whether the value may be `null`. In a body, `null` clears the field. */
  readonly nullable?: boolean;
  /** The only values that a body may contain. */
  readonly enum?: readonly unknown[];
  /** The smallest number, or the earliest date, that a body may contain. */
  readonly minimum?: number | string;
  /** The largest number, or the latest date, that a body may contain. */
  readonly maximum?: number | string;
  /** The minimum length of a text in a body, in UTF-16 code units. */
  readonly minLength?: number;
  /** The maximum length of a text in a body, in UTF-16 code units. */
  readonly maxLength?: number;
  /**
   * The regular expression that a text has to match. An expression with flags is left out, because a pattern of JSON
   * Schema has no flags.
   */
  readonly pattern?: string;
}

/** @internal The description of a field in a request body or in a response, in the result of `Framework.describe()`. */
export interface FieldDescription extends ValueDescription {
  /** The key of the field in the JSON of a body or a response. */
  readonly name: string;
  /**
   * Whether the field is always present. For a body, the request is invalid without the field. For a response, the
   * field is present if the entity was written through the model and no hook has changed the entity.
   */
  readonly required: boolean;
  /**
   * Whether no request body can set the field, because the field has the option `readonly` or because the database or
   * Mongoose sets the field.
   */
  readonly readonly: boolean;
  /**
   * The value that a new entity gets if the body leaves the field out. Missing if the default is computed for each
   * entity, or if the field is hidden from some readers or holds hidden fields.
   */
  readonly default?: unknown;
  /** A summary of the field in a few words, from the option `summary`. */
  readonly summary?: string;
  /** A description of the field in CommonMark, from the option `description`. */
  readonly description?: string;
  /** Whether clients should stop using the field, from the option `deprecated`. */
  readonly deprecated?: boolean;
  /**
   * The option `example` of the field's decorator. A response has no example for a field that holds hidden fields,
   * because the example may contain them.
   */
  readonly example?: unknown;
}

/**
 * `result` is the response of an action, whose object need not be stored, so identifiers and timestamps may be missing.
 * `new` is the body of a creation or of a PUT, and `replacement` the body of a PUT whose key is in the path. `changes`
 * is the body of `updateAll()`, which accepts listed fields only. `element` is an array element in a body for a stored
 * entity, which the client sends as a whole.
 */
export type View = "answer" | "result" | "new" | "replacement" | "patch" | "changes" | "element";

export function isAnswer(view: View): boolean {
  return view === "answer" || view === "result";
}

/**
 * If bodies are strict, such a body may contain the stored values of fields that the caller cannot set, so that a
 * client can send back an entity that it has read.
 */
export function repeatsStored(view: View): boolean {
  return view === "patch" || view === "replacement" || view === "element";
}

interface ObjectPlace {
  readonly view: View;
  /** An embedded object has no version field, because only the outer entity has a version. */
  readonly embedded: boolean;
}

export interface ObjectNode {
  readonly view: View;
  /** A nested path of Mongoose has no class. */
  readonly model: string | undefined;
  /** Whether a body with an undeclared field is refused. Otherwise the field is ignored. */
  readonly strict: boolean;
  /**
   * Whether undeclared fields are accepted even if bodies are strict. The model has `strict: false`, or a function of
   * the application makes the JSON that clients send back.
   */
  readonly isOpen: boolean;
  readonly fields: readonly FieldNode[];
  /**
   * The fields that clients can read and that a body cannot set. A client can send back an entity that it has read, so
   * a body may contain them.
   */
  readonly ignored: readonly string[];
  /** For strict bodies. A body for a stored entity may contain these fields only with their stored values. */
  readonly repeated: readonly FieldNode[];
}

const nodesOf = memoize((_shape: Shape) => new Map<string, ObjectNode>());

/**
 * Fields are described when they are read first. Models that embed each other therefore lead to a cycle of objects and
 * not to an infinite recursion.
 */
export function describeObject(shape: Shape, place: ObjectPlace): ObjectNode {
  const { view, embedded } = place;
  const known = nodesOf(shape);
  const key = `${view} ${embedded}`;
  let fields: readonly FieldNode[] | undefined;
  const node: ObjectNode = known.get(key) ?? {
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
  known.set(key, node);
  return node;
}

/** The fields of the kinds (discriminators) of the model are included. */
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

function fieldNodes({ fields, schema }: Shape, { view, embedded }: ObjectPlace): FieldNode[] {
  const version: unknown = schema?.get("versionKey");
  const stamps = schema === undefined ? {} : stampFields(schema);
  const written = new Set<unknown>(["_id", version, ...Object.values(stamps)]);
  const seen = [...fields].filter(([name, field]) => {
    if (name === version && embedded) return false;
    if (isAnswer(view)) return whyUnseen(field) === undefined;
    if (name === "_id") return view === "element" || view === "new" && field.writable;
    return field.writable;
  });
  return seen.map(([name, field]) => fieldNode(name, { field, view, written: written.has(name) }));
}

export interface ValueNode extends Pick<ValueDescription, "type" | "model"> {
  readonly items?: ValueNode;
  readonly object?: ObjectNode;
  readonly rules: DeclaredRules;
  readonly nullable: boolean;
  /** Mongoose refuses an empty text in a required field. */
  readonly filled: boolean;
  /**
   * Mongoose changes a text by these options before it checks the rules of the field. A body may therefore contain a
   * text that only satisfies the rules after the change.
   */
  readonly reworked: readonly string[];
  /**
   * Whether a getter, a setter, a transform or a cast of the application determines the value. The application may
   * change such a value in any way, so the OpenAPI document describes no rules of it.
   */
  readonly opaque: boolean;
  /** Whether a function of the application casts the values, so that the framework cannot know their JSON type. */
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
  /** Whether every write through the framework sets the field, so that every response with an entity contains it. */
  readonly written: boolean;
}

function fieldNode(name: string, place: FieldPlace): FieldNode {
  const { field, view, written } = place;
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
  // An update replaces whole elements of an array, but changes only the given parts of the values of a Map.
  const below = kind === "array" && (view === "patch" || view === "replacement") ? "element" : view;
  // Mongoose uses one type object for an array of embedded objects and for its elements. The options of this object,
  // such as `get`, are not applied to the elements.
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
    isCast: own !== undefined && hasOwnCast(own),
  };
}

/** An empty text in a body is stored as `null` for these Mongoose types. */
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

/**
 * If a class embeds itself, its fields are described only where the class occurs first, because the description would
 * be infinite otherwise.
 */
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
    ...describeType(type),
    ...model !== undefined && { model },
    ...object !== undefined && !described.has(object) &&
      { fields: describeFields(object, described) },
    ...items !== undefined && { items: describeValue(items, described) },
    ...nullable && { nullable },
    ...tellRules(rules, type),
  };
}
