import mongoose from "mongoose";
import type { Model, Schema, SchemaType } from "mongoose";
import {
  hasMiddleware,
  hasOwnSetters,
  isImmutable,
  isRequiredAtTimes,
} from "../mapper/internals.ts";
import type { FieldShape, Shape } from "../shape/shape.ts";

/** Middleware that a write would run, on the document or on the query. */
const WRITE_HOOKS = [
  "save",
  "validate",
  "init",
  "find",
  "findOne",
  "findOneAndUpdate",
  "updateOne",
];

/** Options of a schema that change how the mapper writes. */
const OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

/** Methods of documents that a class may have replaced. */
const METHODS = ["save", "validate"];

/** Options of a field that need the document: they may look at its other fields. */
const RULES = ["validate", "set", "transform"];

/** Validators that look at nothing but the value. */
const PLAIN_VALIDATORS: ReadonlySet<unknown> = new Set([
  "required",
  "enum",
  "regexp",
  "min",
  "max",
  "minlength",
  "maxlength",
]);

const known = new WeakMap<Model<unknown>, boolean>();

/**
 * Tells whether the mapper would do nothing more with a document of a model than cast its values, hold each against rules
 * that look at nothing else, and write it: then a write needs no document.
 */
export function writesPlainly(model: Model<unknown>, shape: Shape): boolean {
  let plain = known.get(model);
  if (plain === undefined) {
    const schema = model.schema as Schema;
    plain = !shape.strict && !hasMiddleware(schema, WRITE_HOOKS) && hasPlainOptions(schema) &&
      [...shape.fields.values()].every(isPlainField);
    known.set(model, plain);
  }
  return plain;
}

function hasPlainOptions(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  const { currentTime } = (options.timestamps ?? {}) as { currentTime?: unknown };
  return typeof schema.get("versionKey") === "string" && currentTime === undefined &&
    !OPTIONS.some((name) => Boolean(options[name])) &&
    !METHODS.some((name) => Object.hasOwn(schema.methods, name));
}

/** Whether a field, or its element, has no rules of the user's own. */
function isPlainField({ type, element, writable }: FieldShape): boolean {
  if (type !== undefined && !isPlainType(type)) return false;
  if (type !== undefined && writable && (isImmutable(type) || hasOwnSetters(type))) return false;
  return element === undefined || isPlainField(element);
}

/** Types of the mapper: one of the user's own may do whatever it wants. */
const TYPES: ReadonlySet<unknown> = new Set(Object.values(mongoose.Schema.Types));

function isPlainType(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  return TYPES.has(type.constructor) && !RULES.some((name) => options[name] !== undefined) &&
    !isRequiredAtTimes(type) &&
    type.validators.every((each) => PLAIN_VALIDATORS.has(each.type));
}
