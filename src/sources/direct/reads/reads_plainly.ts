import type { Model, Schema, SchemaType } from "mongoose";
import { hasOwnJson } from "../../../schema/mongoose/documents/hide_in_json.ts";
import { hasOwnCast } from "../../../schema/mongoose/internals.ts";
import {
  runsNothingOwn,
  schemasWithin,
  typesWithin,
} from "../../../schema/mongoose/schemas_within.ts";

/** Middleware that a read would run. */
const READ_HOOKS = ["find", "findOne", "init"];

/** Options of a schema that change what a query asks for, or how. */
const QUERY_OPTIONS = ["read", "readConcern", "collation"];

/**
 * Tells whether what is stored of a model is what its documents show: then a read needs no documents.
 *
 * What speaks against it: middleware of reads, JSON options or transforms of the user's own, discriminators, schemas
 * that keep undeclared fields, objects made of dotted paths, methods in the place of Mongoose's.
 */
export function readsPlainly(model: Model<unknown>): boolean {
  return runsNothingOwn(model, READ_HOOKS) &&
    [...schemasWithin(model.schema as Schema)].every(isPlain);
}

function isPlain(schema: Schema): boolean {
  if (hasOwnJson(schema)) return false;
  if (schema.get("strict") === false || schema.get("strictRead") === "throw") return false;
  const options = schema.options as Record<string, unknown>;
  if (QUERY_OPTIONS.some((name) => isSet(options[name]))) return false;
  let plain = true;
  schema.eachPath((path: string, type: SchemaType) => {
    plain &&= (!path.includes(".") || path.includes("$*")) && typesWithin(type).every(isPlainType);
  });
  return plain;
}

/** Mongoose itself sets options that nobody gave to `null` or `false`. */
function isSet(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false;
}

/** Whether what is stored of a type, and of all fields of its kind, is what JSON shows. */
function isPlainType(type: SchemaType): boolean {
  const { options, constructor } = type;
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return !hasOwnCast(type) && (options as { transform?: unknown }).transform === undefined &&
    defaultOptions?.transform === undefined;
}
