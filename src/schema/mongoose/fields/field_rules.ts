import type { Document, SchemaType } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

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
