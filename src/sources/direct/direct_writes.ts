import mongoose from "mongoose";
import type { Model, Schema, SchemaType } from "mongoose";
import type { JsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isPromise } from "../../declare/hooks/run_hook.ts";
import type { MaybePromise } from "../../declare/hooks/hooks.ts";
import { BodyCast } from "../../write/body/cast_body.ts";
import { castForQuery } from "../../schema/mongoose/schemas/field_rules.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { inTransaction, turnsIn } from "../../database/in_transaction.ts";
import type { StatementOptions, TimeBudget } from "../../database/time_budget.ts";
import { tooMany } from "../../errors/refusals.ts";
import { everyFilter, hasNoVersion, hasVersion } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { asVersion } from "../../schema/fields/system_fields.ts";

/**
 * Casts a body that is flat: scalars, and arrays of scalars, at declared fields of the root. `undefined` for any other body,
 * and for one with references that have to be checked.
 */
export function flatFields(
  body: JsonObject,
  shape: Shape,
): Record<string, unknown> | undefined {
  const flat = Object.entries(body).every(([name, value]) => {
    const field = shape.fields.get(name);
    return field === undefined || !field.writable || (value !== null && isFlat(field));
  });
  if (!flat) return undefined;
  const cast = new BodyCast();
  try {
    const values = cast.fields(body, shape);
    if (cast.hasProblems || cast.references.size > 0) return undefined;
    for (const name of Object.keys(values)) {
      const field = shape.fields.get(name) as FieldShape;
      values[name] = settle(values[name], field);
    }
    return values;
  } catch (error) {
    if (error instanceof mongoose.Error.CastError) return undefined;
    throw error;
  }
}

function isFlat({ kind, element }: FieldShape): boolean {
  return kind === "scalar" || (kind === "array" && element?.kind === "scalar");
}

/** Runs the setters of a field, such as `lowercase`: casting alone does not. */
function settle(value: unknown, { type, element }: FieldShape): unknown {
  if (element === undefined) return castForQuery(type as SchemaType, value);
  return (value as unknown[]).map((each) =>
    each === null || each === undefined ? each : castForQuery(element.type as SchemaType, each)
  );
}

export function areValid(
  values: Readonly<Record<string, unknown>>,
  fields: Iterable<readonly [string, FieldShape]>,
): MaybePromise<boolean> {
  const rules = new Rules();
  for (const [name, field] of fields) {
    if (!rules.mayPass(values[name], field)) return false;
  }
  return rules.asynchronous.length === 0 ||
    Promise.all(rules.asynchronous).then((all) => all.every(Boolean));
}

class Rules {
  readonly asynchronous: Promise<boolean>[] = [];

  mayPass(value: unknown, { type, element }: FieldShape): boolean {
    const passes = type?.validators.every(({ type: rule, validator }) =>
      (value === undefined && rule !== "required") || this.#mayPassRule(value, validator)
    );
    if (passes !== true) return false;
    return element === undefined || !Array.isArray(value) ||
      value.every((each) => this.mayPass(each, element));
  }

  #mayPassRule(value: unknown, validator: unknown): boolean {
    if (typeof validator !== "function") return false;
    try {
      const result: unknown = validator.call({}, value);
      if (!isPromise(result)) return result === undefined || Boolean(result);
      this.asynchronous.push(Promise.resolve(result).then((each) => each !== false, () => false));
      return true;
    } catch {
      return false;
    }
  }
}

export function timeStamps(
  model: Model<unknown>,
  ...kinds: ("createdAt" | "updatedAt")[]
): Record<string, unknown> {
  const schema = model.schema as Schema;
  const fields = stampFields(schema);
  const now = model.base.now();
  return Object.fromEntries(
    kinds.flatMap((kind) => fields[kind] ?? []).map((name) => [name, schema.path(name).cast(now)]),
  );
}

interface StoredUpdate {
  /** Cast. */
  readonly conditions: Filter;
  /** New values of fields, cast and valid. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly replacement?: readonly object[] | undefined;
  readonly upsert?: boolean | undefined;
  readonly projection: Readonly<Record<string, unknown>>;
  readonly statement: StatementOptions;
}

/**
 * Updates or replaces an entity in one statement; gives `null` if there is none, `undefined` where the database refuses the
 * data. A version that is no whole number takes a second statement.
 */
export async function updateStored(
  model: Model<unknown>,
  { conditions, changes, replacement, upsert = false, projection, statement }: StoredUpdate,
): Promise<Readonly<Record<string, unknown>> | null | undefined> {
  const key = (model.schema as Schema).get("versionKey") as string;
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  const update = replacement ?? {
    ...Object.keys(set).length > 0 && { $set: set },
    $inc: { [key]: 1 },
  };
  // Never `raw`: the driver would apply it to error replies too, and lose track of the primary.
  const options = {
    ...statement,
    ...Object.keys(projection).length > 0 && { projection },
    returnDocument: "after",
    enableUtf8Validation: false,
  } as const;
  try {
    const stored = await model.collection.findOneAndUpdate(conditions, update as never, {
      ...options,
      upsert,
    });
    if (stored === null || asVersion(stored[key]) !== null) return stored;
    const uncounted = { _id: stored._id, ...hasNoVersion(key) };
    const first = { $set: { [key]: 1 } } as never;
    return await model.collection.findOneAndUpdate(uncounted, first, options) ?? stored;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

interface SelectedUpdate extends Pick<StoredUpdate, "conditions" | "changes"> {
  readonly limit: number;
  readonly timeBudget: TimeBudget;
}

/** Updates what conditions select in one transaction; gives their number, `undefined` where the database refuses the data. */
export async function updateSelected(
  model: Model<unknown>,
  { conditions, changes, limit, timeBudget }: SelectedUpdate,
): Promise<number | undefined> {
  const { collection, schema } = model;
  const key = (schema as Schema).get("versionKey") as string;
  const set = { ...changes, ...timeStamps(model, "updatedAt") };
  const counted = { ...Object.keys(set).length > 0 && { $set: set }, $inc: { [key]: 1 } };
  let count = 0;
  try {
    await inTransaction({ ...turnsIn(model), timeBudget, isRequired: true }, async (session) => {
      const statement = timeBudget.statement(session);
      const update = async (version: Filter, changes: object) => {
        const filter = everyFilter(conditions, version);
        const { matchedCount } = await collection.updateMany(filter, changes as never, statement);
        return matchedCount;
      };
      const upTo = Number.isFinite(limit) && { limit: limit + 1 };
      count = await collection.countDocuments(conditions, { ...upTo, ...statement });
      if (count > limit) throw tooMany(limit);
      if (count === 0 || await update(hasVersion(key), counted) === count) return;
      await update(hasNoVersion(key), { $set: { ...set, [key]: 1 } });
    });
    return count;
  } catch (error) {
    if (isRefusal(error)) return undefined;
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && REFUSALS.has(error.code);
}

/** The server's codes for a version that is the last number or none, for its own rules, and for a value that must be unique. */
const REFUSALS = new Set<unknown>([2, 14, 121, 11000, 16554]);
