import type { Document, Schema, SchemaType } from "mongoose";
import mongoose from "mongoose";
import type { Knowledge } from "../knowledge.ts";

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
