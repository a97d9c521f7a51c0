import mongoose from "mongoose";
import type { Document, Schema, SchemaType } from "mongoose";
import { isOwn } from "./schema_members.ts";

interface FieldInternals {
  readonly isRequired?: boolean;
  readonly originalRequiredValue?: unknown;
  readonly $immutable?: unknown;
  readonly $immutableSetter?: unknown;
  readonly setters?: readonly unknown[];
  readonly _castFunction?: unknown;
  readonly defaultValue?: unknown;
  applySetters(value: unknown, scope: null, init?: false): unknown;
  getDefault?(doc: Document, init: boolean): unknown;
}

function internals(type: SchemaType | undefined): Partial<FieldInternals> {
  return (type ?? {}) as unknown as Partial<FieldInternals>;
}

export function isRequired(type: SchemaType | undefined): boolean {
  return internals(type).isRequired === true;
}

export function isRequiredAtTimes(type: SchemaType): boolean {
  return typeof (internals(type).originalRequiredValue ?? type.options.required) === "function";
}

export function isAlwaysRequired(type: SchemaType | undefined): boolean {
  return isRequired(type) && !isRequiredAtTimes(type as SchemaType);
}

export function isImmutable(type: SchemaType | undefined): boolean {
  return Boolean(internals(type).$immutable);
}

export function isImmutableAtTimes(type: SchemaType | undefined): boolean {
  return typeof internals(type).$immutable === "function";
}

export function isLocked(type: SchemaType | undefined, holder: object): boolean {
  if (type === undefined || !isImmutable(type)) return false;
  const { $immutable } = internals(type);
  return typeof $immutable !== "function" || Boolean($immutable.call(holder, holder));
}

const TYPES: ReadonlySet<unknown> = new Set(Object.values(mongoose.Schema.Types));

export function isMongooseType({ constructor }: SchemaType): boolean {
  return TYPES.has(constructor);
}

export function hasOwnCast(type: SchemaType): boolean {
  const { _castFunction: cast } = internals(type);
  return cast !== undefined && !isOwn(cast);
}

export const SETTING_OPTIONS = ["trim", "lowercase", "uppercase"] as const;

export function hasOwnSetters(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  const { setters = [], $immutableSetter } = internals(type);
  // Mongoose adds a setter to an immutable field, in some cases twice. Only other setters are the application's.
  const own = setters.filter((setter) => String(setter) !== String($immutableSetter));
  return own.length > SETTING_OPTIONS.filter((name) => options[name]).length;
}

export function castForQuery(type: SchemaType, value: unknown): unknown {
  return (type as unknown as FieldInternals).applySetters(value, null);
}

/** Unlike a filter, a stored `dateOnly` has no time. */
export function castForWrite(type: SchemaType, value: unknown): unknown {
  return (type as unknown as FieldInternals).applySetters(value, null, false);
}

export function hasDefault(type: SchemaType | undefined): boolean {
  return rawDefault(type) !== undefined;
}

export function defaultOf(type: SchemaType | undefined, doc: Document): unknown {
  return internals(type).getDefault?.(doc, false);
}

export function rawDefault(type: SchemaType | undefined): unknown {
  return internals(type).defaultValue;
}

const COPIED = [
  "defaultValue",
  "$immutable",
  "$immutableSetter",
  "getters",
  "setters",
] as const;

/** Mongoose's clone of a schema keeps these constraints for scalar fields only. */
export function copyConstraints(from: SchemaType | undefined, to: SchemaType): void {
  const given = internals(from) as Readonly<Record<string, unknown>>;
  for (const name of COPIED) if (name in given) Object.assign(to, { [name]: given[name] });
}

/** A default function may read the document. `Date.now` does not. */
export function hasComputedDefault(type: SchemaType | undefined): boolean {
  const given = rawDefault(type);
  return typeof given === "function" && given !== Date.now;
}

/** Mongoose runs default functions after it sets the stored values, so these fields come last in the JSON. */
export function setsLate(type: SchemaType | undefined): boolean {
  const given = rawDefault(type);
  return typeof given === "function" && !runsEarly(given);
}

/** Mongoose sets this mark on its own default of scalar arrays, and calls it before it sets the stored values. */
function runsEarly(given: object): boolean {
  return (given as { readonly $runBeforeSetters?: unknown }).$runBeforeSetters === true;
}

const emptyDefaults = new WeakSet<object>();

/**
 * Mongoose does not mark its own default for an array of embedded objects, so it is remembered before the application
 * can set another.
 */
export function rememberDefault(type: SchemaType | undefined): void {
  const made = rawDefault(type);
  if (type?.instance === "Array" && typeof made === "function") emptyDefaults.add(made);
}

export function hasEmptyDefault(type: SchemaType | undefined): boolean {
  const { default: given } = (type?.options ?? {}) as { default?: unknown };
  const made: object = Object(rawDefault(type));
  return (runsEarly(made) || emptyDefaults.has(made)) &&
    (given === undefined || (Array.isArray(given) && given.length === 0));
}

/** If neither Mongoose nor a default makes the `_id`, a create must contain it, and no update can change it. */
export function requireId(schema: Schema): void {
  const type = schema.path("_id") as SchemaType | undefined;
  if (type === undefined || hasDefault(type)) return;
  type.required(true);
  type.immutable(true);
  const { enum: allowed, match } = constraintsOf(type);
  if (
    type instanceof mongoose.Schema.Types.String && allowed === undefined && match === undefined
  ) {
    type.match(REACHABLE, "Path `{PATH}` is no segment of a path.");
  }
}

/** Clients and proxies resolve the path segments `.` and `..`, so no request would reach such an `_id`. */
const REACHABLE = /^(?!\.\.?$)/;

export function isGivenId(schema: Schema): boolean {
  const type = schema.path("_id") as SchemaType | undefined;
  return isAlwaysRequired(type) && isImmutable(type) && !hasDefault(type);
}

export function hasUsualId(schema: Schema): boolean {
  const [own, usual] = [schema, new mongoose.Schema()].map((each) => rawDefault(each.path("_id")));
  return own === usual;
}

export interface Constraints {
  readonly enum?: readonly unknown[];
  readonly minimum?: number | Date;
  readonly maximum?: number | Date;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly match?: RegExp;
}

/** By the type of Mongoose's validator: the constraint, and the property with the option's value. */
const CONSTRAINTS: Readonly<
  Record<string, readonly [constraint: keyof Constraints, property: string]>
> = {
  enum: ["enum", "enumValues"],
  min: ["minimum", "min"],
  max: ["maximum", "max"],
  minlength: ["minLength", "minlength"],
  maxlength: ["maxLength", "maxlength"],
  regexp: ["match", "regexp"],
};

export function constraintsOf(type: SchemaType | undefined): Constraints {
  return Object.fromEntries((type?.validators ?? []).flatMap((validator) => {
    const [constraint] = CONSTRAINTS[String(validator.type)] ?? [];
    const value = limitOf(validator);
    const isKnown = Number.isFinite(value) || Array.isArray(value) || value instanceof Date ||
      value instanceof RegExp;
    return constraint !== undefined && isKnown ? [[constraint, value]] : [];
  }));
}

function limitOf(validator: SchemaType["validators"][number]): unknown {
  const [, property] = CONSTRAINTS[String(validator.type)] ?? [];
  return property === undefined ? undefined : Reflect.get(validator, property);
}

const COMPOUND: readonly string[] = ["Array", "DocumentArray", "Embedded", "Map", "Mixed"];

export function constraintAgainstDefault(type: SchemaType): string | undefined {
  return constraintAgainst(type, (type.options as { default?: unknown }).default);
}

/** Setters and limits that are functions may read the document, so they are not called. */
export function constraintAgainst(type: SchemaType, given: unknown): string | undefined {
  const { embeddedSchemaType: element = type } = type as { embeddedSchemaType?: SchemaType };
  const isKnown = typeof given !== "function" && !hasOwnSetters(type) && isMongooseType(element) &&
    !COMPOUND.includes(element.instance);
  if (!isKnown) return undefined;
  return [given].flat().filter((value) => value !== undefined && value !== null)
    .map((value) => brokenConstraint(element, value)).find(Boolean);
}

function brokenConstraint(type: SchemaType, given: unknown): string | undefined {
  let value: unknown;
  try {
    value = castForQuery(type, given);
  } catch {
    return "type";
  }
  const broken = type.validators.find((each) => {
    const limit = limitOf(each);
    return limit !== undefined && typeof limit !== "function" && !each.validator?.(value);
  });
  if (broken === undefined) return undefined;
  const name = broken.type === "regexp" ? "match" : broken.type;
  return Object.keys(type.options).find((each) => each.toLowerCase() === name) ?? name;
}
