import mongoose from "mongoose";
import type { Model, Schema, SchemaType } from "mongoose";
import { castFields } from "../body/cast_body.ts";
import type { Problems } from "../errors/bad_data.ts";
import type { Filter } from "../query/compile_filter.ts";
import type { JsonObject } from "../query/json.ts";
import { castForQuery, changedAtField, hasMiddleware } from "../mapper/internals.ts";
import type { FieldShape, Shape } from "../shape/shape.ts";
import type { Stored } from "../sources/stored_writer.ts";

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
 * root. `undefined` for any other patch, and for one that is not valid: the document takes it, or tells what is wrong.
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
  const fields = castFields(body, shape, { path: "", depth: 0, problems });
  if (Object.keys(problems).length > 0) return undefined;
  try {
    const changes = Object.entries(fields).map(([name, value]) => {
      const field = shape.fields.get(name) as FieldShape;
      return [name, settle(value, field), field] as const;
    });
    const valid = changes.every(([, value, field]) => isValid(value, field));
    return valid ? Object.fromEntries(changes) : undefined;
  } catch (error) {
    if (error instanceof mongoose.Error.CastError) return undefined;
    throw error;
  }
}

/** Runs the setters of a field, such as `lowercase`: casting alone does not. */
function settle(value: unknown, { type, element }: FieldShape): unknown {
  if (element === undefined) return castForQuery(type as SchemaType, value);
  return (value as unknown[]).map((each) =>
    each === null || each === undefined ? each : castForQuery(element.type as SchemaType, each)
  );
}

/** Whether the rules of a field, none of them the user's own, let a value pass. */
function isValid(value: unknown, { type, element }: FieldShape): boolean {
  const passes = type?.validators.every(({ validator }) =>
    typeof validator === "function" && Boolean(validator.call({}, value))
  );
  if (passes !== true) return false;
  return element === undefined || (value as unknown[]).every((each) => isValid(each, element));
}

/** An update of one entity in one statement. */
export interface StoredPatch {
  /** The condition that names the entity, and what else must hold; cast. */
  readonly conditions: Filter;
  /** What {@linkcode flatPatch} gave. */
  readonly changes: Filter;
  /** The time that the database may take. */
  readonly maxTimeMS: number;
  /** Whether to give the bytes of the entity. */
  readonly raw: boolean;
}

/**
 * Updates the one that conditions select, in one statement that counts its version; gives it as it is then, `null` if
 * there is none. Nothing is written and `undefined` given where the database refuses the data: the document tells why.
 */
export async function patchStored(
  model: Model<unknown>,
  { conditions, changes, maxTimeMS, raw }: StoredPatch,
): Promise<Stored | null | undefined> {
  const schema = model.schema as Schema;
  const changedAt = changedAtField(schema);
  const stamp = changedAt === undefined
    ? {}
    : { [changedAt]: schema.path(changedAt).cast(model.base.now()) };
  const set = { ...changes, ...stamp };
  const update = {
    ...Object.keys(set).length > 0 && { $set: set },
    $inc: { [schema.get("versionKey") as string]: 1 },
  };
  const options = { maxTimeMS, returnDocument: "after", raw, enableUtf8Validation: false } as const;
  try {
    return await model.collection.findOneAndUpdate(conditions, update as never, options);
  } catch (error) {
    const { MongoServerError } = mongoose.mongo;
    if (error instanceof MongoServerError && REFUSALS.has(error.code)) return undefined;
    throw error;
  }
}

/** What the server says of a version that is no number, of its own rules, and of a value that must be unique. */
const REFUSALS = new Set<unknown>([14, 121, 11000]);

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

/** Options of a schema that change how the mapper writes. */
const OPTIONS = ["optimisticConcurrency", "shardKey", "writeConcern", "collation"];

function hasOwnRules(schema: Schema, shape: Shape): boolean {
  const options = schema.options as Record<string, unknown>;
  return typeof schema.get("versionKey") !== "string" ||
    OPTIONS.some((name) => Boolean(options[name])) || hasOwnClock(options.timestamps) ||
    [...shape.fields.values()].some(isRuled);
}

function hasOwnClock(timestamps: unknown): boolean {
  const { currentTime } = (timestamps ?? {}) as { currentTime?: unknown };
  return currentTime !== undefined;
}

/** Whether a field has rules of its own. What no body may set, such as the time of creation, is not judged by them. */
function isRuled({ type, writable }: FieldShape): boolean {
  const given = (type?.options ?? {}) as Record<string, unknown>;
  return typeof given.required === "function" ||
    (writable && RULES.some((name) => given[name] !== undefined));
}
