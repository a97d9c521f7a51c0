import type { Document, Schema, SchemaType } from "mongoose";
import mongoose from "mongoose";
import type { Knowledge } from "../assumptions.ts";

interface Inside {
  readonly isRequired?: boolean;
  readonly originalRequiredValue?: unknown;
  readonly $immutable?: unknown;
  readonly setters?: readonly unknown[];
  readonly _castFunction?: unknown;
  applySetters(value: unknown, scope: null): unknown;
}

function inside(type: SchemaType): Inside {
  return type as unknown as Inside;
}

export function isRequired(type: SchemaType | undefined): boolean {
  return type !== undefined && inside(type).isRequired === true;
}

/** Whether a function decides if a field is required. */
export function isRequiredAtTimes(type: SchemaType): boolean {
  return typeof (inside(type).originalRequiredValue ?? type.options.required) === "function";
}

/** Whether a value cannot be valid without a field. */
export function isAlwaysRequired(type: SchemaType | undefined): boolean {
  return type !== undefined && isRequired(type) && !isRequiredAtTimes(type);
}

export function isImmutable(type: SchemaType): boolean {
  return Boolean(inside(type).$immutable);
}

export function isLocked(type: SchemaType | undefined, doc: Document): boolean {
  if (type === undefined || doc.isNew || !isImmutable(type)) return false;
  const { $immutable } = inside(type);
  return typeof $immutable !== "function" || Boolean($immutable.call(doc, doc));
}

/** Whether a field is cast by a function of the user's. */
export function hasOwnCast(type: SchemaType): boolean {
  return inside(type)._castFunction !== undefined ||
    (type.options as { cast?: unknown }).cast !== undefined;
}

/** Options of a text that are setters to Mongoose. */
export const SETTING_OPTIONS = ["trim", "lowercase", "uppercase"] as const;

/** Whether a field has setters of the user's. */
export function hasOwnSetters(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  const { setters = [] } = inside(type);
  return setters.length > SETTING_OPTIONS.filter((name) => options[name]).length;
}

/** Casts a value to a type as a query does: the setters of the field, such as `lowercase`, run first. */
export function castForQuery(type: SchemaType, value: unknown): unknown {
  return inside(type).applySetters(value, null);
}

/** What Mongoose's documents obey: a client could set a field that cannot be changed, or clear a required one. */
export const LOCKS: Knowledge = {
  name: "immutable and required fields",
  holds({ schema }) {
    const [locked, text, free] = ["immutable", "text", "number"].map((name) => schema.path(name));
    return locked !== undefined && isImmutable(locked) && isRequired(text) && !isRequired(locked) &&
      free !== undefined && !isImmutable(free);
  },
};

export const SETTERS: Knowledge = {
  name: "setters and casts of fields",
  holds({ schema }) {
    const [text, set, cast, at] = ["text", "set", "cast", "atTimes"].map((name) =>
      schema.path(name)
    ) as [SchemaType, SchemaType, SchemaType, SchemaType];
    return castForQuery(text, " A ") === "a" && !hasOwnSetters(text) && hasOwnSetters(set) &&
      inside(cast)._castFunction !== undefined && !hasOwnCast(text) && isRequiredAtTimes(at) &&
      !isRequiredAtTimes(text);
  },
};

interface Inside {
  readonly defaultValue?: unknown;
  getDefault?(doc: Document, init: boolean): unknown;
}

export function hasDefault(type: SchemaType | undefined): boolean {
  return rawDefault(type) !== undefined;
}

export function defaultOf(type: SchemaType | undefined, doc: Document): unknown {
  return (type as Inside | undefined)?.getDefault?.(doc, false);
}

/** The default of a field as it was given: a value, or a function that gives it. */
export function rawDefault(type: SchemaType | undefined): unknown {
  return (type as Inside | undefined)?.defaultValue;
}

/** Whether the default of a field is a function that may look at the document. */
export function hasComputedDefault(type: SchemaType | undefined): boolean {
  const given = rawDefault(type);
  return typeof given === "function" && given !== Date.now;
}

/** Functions that Mongoose has made to give an empty array. */
const emptyDefaults = new WeakSet<object>();

/** Remembers the default of an array of embedded objects, before anybody can have set another. */
export function rememberDefault(type: SchemaType | undefined): void {
  const made = rawDefault(type);
  if (type?.instance === "Array" && typeof made === "function") emptyDefaults.add(made);
}

/** Whether an array is empty by default, which is the default of Mongoose. */
export function hasEmptyDefault(type: SchemaType | undefined): boolean {
  const { default: given } = (type?.options ?? {}) as { default?: unknown };
  const made = Object(rawDefault(type)) as { readonly $runBeforeSetters?: unknown };
  // Mongoose marks the function that it makes for an array of values.
  return (made.$runBeforeSetters === true || emptyDefaults.has(made)) &&
    (given === undefined || (Array.isArray(given) && given.length === 0));
}

/** Whether a new document gets a random identifier, which is the default of Mongoose. */
export function hasUsualId(schema: Schema): boolean {
  const [own, usual] = [schema, new mongoose.Schema()].map((each) => rawDefault(each.path("_id")));
  return own === usual;
}

export const DEFAULTS: Knowledge = {
  name: "defaults of fields",
  holds({ schema, doc }) {
    const path = (name: string) => schema.path(name);
    return !hasDefault(path("immutable")) && defaultOf(path("number"), doc) === 5 &&
      rawDefault(path("date")) === Date.now && hasComputedDefault(path("computed")) &&
      defaultOf(path("computed"), doc) === "made" && hasEmptyDefault(path("list")) &&
      !hasEmptyDefault(path("computedList")) && hasUsualId(schema);
  },
};

/** The rules of a field that Mongoose made of its options, and that JSON Schema can say. */
export interface DeclaredRules {
  readonly enum?: readonly unknown[];
  /** Of a number, or of a date. */
  readonly minimum?: number | Date;
  readonly maximum?: number | Date;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly match?: RegExp;
}

/** Where a validator keeps what an option said, by its type. */
interface Kept {
  readonly type?: string;
  readonly enumValues?: readonly unknown[];
  readonly min?: unknown;
  readonly max?: unknown;
  readonly minlength?: unknown;
  readonly maxlength?: unknown;
  readonly regexp?: unknown;
}

export function declaredRules(type: SchemaType | undefined): DeclaredRules {
  return Object.assign({}, ...(type?.validators ?? []).map((each) => ruleOf(each as Kept)));
}

function ruleOf(kept: Kept): DeclaredRules {
  const { type, enumValues, min, max, minlength, maxlength, regexp } = kept;
  switch (type) {
    case "enum":
      return Array.isArray(enumValues) ? { enum: enumValues } : {};
    case "min":
      return isBound(min) ? { minimum: min } : {};
    case "max":
      return isBound(max) ? { maximum: max } : {};
    case "minlength":
      return typeof minlength === "number" ? { minLength: minlength } : {};
    case "maxlength":
      return typeof maxlength === "number" ? { maxLength: maxlength } : {};
    case "regexp":
      return regexp instanceof RegExp ? { match: regexp } : {};
    default:
      return {};
  }
}

function isBound(value: unknown): value is number | Date {
  return typeof value === "number" ? Number.isFinite(value) : value instanceof Date;
}
