import mongoose from "mongoose";
import type { Model, Schema, SchemaType } from "mongoose";
import { isBuiltIn } from "../../../schema/mongoose/built_in.ts";
import { isLinearMapType } from "../../../schema/mongoose/documents/linear_map.ts";
import {
  hasOwnSetters,
  isImmutable,
  isRequiredAtTimes,
} from "../../../schema/mongoose/internals.ts";
import {
  runsNothingOwn,
  schemasWithin,
  typesWithin,
} from "../../../schema/mongoose/schemas_within.ts";
import type { FieldShape, Shape } from "../../../schema/fields/shape.ts";

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

/** Middleware that removing a document runs. */
const REMOVE_HOOKS = ["deleteOne", "find", "findOne", "init"];

/** Options of a schema that change how Mongoose writes. */
const OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

/** Options of a field that need the document: they may look at its other fields. */
const RULES = ["validate", "set", "transform"];

const writable = new WeakMap<Model<unknown>, boolean>();
const removable = new WeakMap<Model<unknown>, boolean>();

/**
 * Tells whether Mongoose would do nothing more with a document of a model than cast its values, hold each against rules
 * that look at nothing else, and write it: then a write needs no document. What a model embeds counts as well, as its
 * middleware and rules run with every write of what is around it.
 */
export function writesPlainly(model: Model<unknown>, shape: Shape): boolean {
  let plain = writable.get(model);
  if (plain === undefined) {
    const schema = model.schema as Schema;
    plain = !shape.strict && hasPlainOptions(schema) && runsNothingOwn(model, WRITE_HOOKS) &&
      [...schemasWithin(schema)].every(hasPlainTypes) &&
      [...shape.fields.values()].every(isPlainlySet);
    writable.set(model, plain);
  }
  return plain;
}

/** Tells whether Mongoose would do nothing more with a document of a model than remove it. */
export function removesPlainly(model: Model<unknown>): boolean {
  let plain = removable.get(model);
  if (plain === undefined) removable.set(model, plain = runsNothingOwn(model, REMOVE_HOOKS));
  return plain;
}

function hasPlainOptions(schema: Schema): boolean {
  const options = schema.options as Record<string, unknown>;
  const { currentTime } = (options.timestamps ?? {}) as { currentTime?: unknown };
  return typeof schema.get("versionKey") === "string" && currentTime === undefined &&
    !OPTIONS.some((name) => Boolean(options[name]));
}

function hasPlainTypes(schema: Schema): boolean {
  let plain = true;
  schema.eachPath((_path: string, type: SchemaType) => {
    plain &&= typesWithin(type).every(isPlainType);
  });
  return plain;
}

/** Types of Mongoose: one of the user's own may do whatever it wants. */
const TYPES: ReadonlySet<unknown> = new Set(Object.values(mongoose.Schema.Types));

/** Whether a type is one of Mongoose's, with no rules but Mongoose's. */
function isPlainType(type: SchemaType): boolean {
  const options = type.options as Record<string, unknown>;
  return (TYPES.has(type.constructor) || isLinearMapType(type)) &&
    !RULES.some((name) => options[name] !== undefined) &&
    !isRequiredAtTimes(type) &&
    type.validators.every(({ validator }) =>
      typeof validator === "function" && isBuiltIn(validator)
    );
}

/** Whether a body that sets a field, or its elements, runs nothing of the user's. */
function isPlainlySet({ type, element, writable }: FieldShape): boolean {
  if (type !== undefined && writable && (isImmutable(type) || hasOwnSetters(type))) return false;
  return element === undefined || isPlainlySet(element);
}
