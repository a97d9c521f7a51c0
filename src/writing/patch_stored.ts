import mongoose from "mongoose";
import type { Model, Schema } from "mongoose";
import { castFields } from "../body/cast_body.ts";
import type { Problems } from "../errors/bad_data.ts";
import type { Filter } from "../query/compile_filter.ts";
import type { JsonObject } from "../query/json.ts";
import { hasMiddleware } from "../mapper/internals.ts";
import type { FieldShape, Shape } from "../shape/shape.ts";
import { withConditions } from "../sources/cast_filter.ts";
import { KEEP_CONDITIONS } from "../sources/filters.ts";

/** Middleware that an update would run, on the document or on the query. */
const UPDATE_HOOKS = [
  "save",
  "validate",
  "init",
  "find",
  "findOne",
  "findOneAndUpdate",
  "updateOne",
];

const patchable = new WeakMap<Model<unknown>, boolean>();

/**
 * Gives the changes of a patch that one statement can make: scalars, and arrays of scalars, at declared fields of the
 * root. `undefined` for any other patch, which takes the document; one that cannot be cast is refused there.
 */
export function flatPatch(
  model: Model<unknown>,
  body: JsonObject,
  shape: Shape,
): Filter | undefined {
  if (shape.strict || !isPatchable(model, shape)) return undefined;
  const flat = Object.entries(body).every(([name, value]) => {
    const field = shape.fields.get(name);
    return field === undefined || !field.writable || (value !== null && isFlat(field));
  });
  if (!flat) return undefined;
  const problems: Problems = {};
  const changes = castFields(body, shape, { path: "", depth: 0, problems });
  return Object.keys(problems).length === 0 ? changes : undefined;
}

/**
 * Updates the one that conditions select, in one statement that counts its version; gives it as it is then, `null` if
 * there is none. Nothing is written and `undefined` given where the data is not valid: the document tells why, if there
 * is one.
 */
export async function patchStored(
  model: Model<unknown>,
  conditions: Filter,
  changes: Filter,
  maxTimeMS: number,
): Promise<object | null | undefined> {
  const key = model.schema.get("versionKey") as string;
  const update = {
    ...Object.keys(changes).length > 0 && { $set: changes },
    $inc: { [key]: 1 },
  };
  const options = { ...KEEP_CONDITIONS, maxTimeMS, returnDocument: "after", runValidators: true };
  try {
    const query = model.findOneAndUpdate({}, update as never, options as never);
    return await withConditions(query, conditions).exec() as object | null;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

/** What the server says of a version that is no number. */
const TYPE_MISMATCH = 14;

/** Whether it was the data that was wrong. */
function isRefusal(error: unknown): boolean {
  const { ValidationError, CastError } = mongoose.Error;
  return error instanceof ValidationError || error instanceof CastError ||
    (error instanceof mongoose.mongo.MongoServerError && error.code === TYPE_MISMATCH);
}

function isFlat({ kind, element }: FieldShape): boolean {
  return kind === "scalar" || (kind === "array" && element?.kind === "scalar");
}

/** Whether the mapper would do nothing more with a document of the model than write what changed. */
function isPatchable(model: Model<unknown>, shape: Shape): boolean {
  let known = patchable.get(model);
  if (known === undefined) {
    const schema = model.schema as Schema;
    known = !hasMiddleware(schema, UPDATE_HOOKS) && !hasOwnRules(schema, shape);
    patchable.set(model, known);
  }
  return known;
}

/** Options that need the document: validators and setters may look at its other fields. */
const RULES = ["validate", "set", "immutable", "transform"];

function hasOwnRules(schema: Schema, shape: Shape): boolean {
  const options = schema.options as Record<string, unknown>;
  return typeof schema.get("versionKey") !== "string" ||
    Boolean(options.optimisticConcurrency) || Boolean(options.shardKey) ||
    [...shape.fields.values()].some(isRuled);
}

/** Whether a field has rules of its own. What no body may set, such as the time of creation, is not judged by them. */
function isRuled({ type, writable }: FieldShape): boolean {
  const given = (type?.options ?? {}) as Record<string, unknown>;
  return typeof given.required === "function" ||
    (writable && RULES.some((name) => given[name] !== undefined));
}
