import type { Model, Schema, SchemaType } from "mongoose";
import { hasOwnJson } from "../mapper/hide_in_json.ts";
import { hasMiddleware, hasOwnCast, replacesMembers } from "../mapper/internals.ts";

/** Middleware that a read would run. */
const READ_HOOKS = ["find", "findOne", "init"];

/** Options of a schema that change what a query asks for, or how. */
const QUERY_OPTIONS = ["read", "readConcern", "collation"];

/**
 * Tells whether what is stored of a model is what its documents show: then a read needs no documents.
 *
 * What speaks against it: middleware of reads, JSON options or transforms of the user's own, discriminators, schemas
 * that keep undeclared fields, objects made of dotted paths, methods in the place of the mapper's.
 */
export function readsPlainly(model: Model<unknown>): boolean {
  const discriminated = model.discriminators !== undefined && model.discriminators !== null;
  return !discriminated && isPlain(model.schema as Schema, new Set());
}

function isPlain(schema: Schema, seen: Set<Schema>): boolean {
  if (seen.has(schema)) return true;
  seen.add(schema);
  if (hasOwnJson(schema) || hasMiddleware(schema, READ_HOOKS)) return false;
  if (replacesMembers(schema)) return false;
  if (schema.get("strict") === false || schema.get("strictRead") === "throw") return false;
  const options = schema.options as Record<string, unknown>;
  if (QUERY_OPTIONS.some((name) => isSet(options[name]))) return false;
  let plain = (schema as { discriminators?: unknown }).discriminators === undefined;
  schema.eachPath((path: string, type: SchemaType) => {
    plain &&= isPlainPath(path, type, seen);
  });
  return plain;
}

/** The mapper itself sets options that nobody gave to `null` or `false`. */
function isSet(option: unknown): boolean {
  return option !== undefined && option !== null && option !== false;
}

function isPlainPath(path: string, type: SchemaType, seen: Set<Schema>): boolean {
  if (path.includes(".") && !path.includes("$*")) return false;
  const { schema, embeddedSchemaType: element } = type as {
    schema?: Schema;
    embeddedSchemaType?: SchemaType;
  };
  if ([type, element].some((each) => each && (isTransformed(each) || hasOwnCast(each)))) {
    return false;
  }
  return schema === undefined || isPlain(schema, seen);
}

/** Whether a type, or all fields of its kind, are changed in JSON. */
function isTransformed({ options, constructor }: SchemaType): boolean {
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return (options as { transform?: unknown }).transform !== undefined ||
    defaultOptions?.transform !== undefined;
}
