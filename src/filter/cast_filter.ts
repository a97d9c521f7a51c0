import mongoose from "mongoose";
import type { Model, Query } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { isStorable, lossOf, storedMembers } from "../schema/mongoose/bson.ts";
import { replaceCast, sanitized } from "../schema/mongoose/statements/query_casts.ts";
import { copyFilter, isClause, isCompiled, isEmpty, KEEP_CONDITIONS } from "./filters.ts";
import type { Filter } from "./filters.ts";

/** Casts a filter for a statement without Mongoose, because MongoDB finds only values of the stored type. */
export function castFilter(model: Model<unknown>, filter: Filter): Filter {
  if (Object.entries(filter).every((condition) => isCast(condition, model))) return filter;
  const query = withConditions(model.find().setOptions(KEEP_CONDITIONS), {});
  return query.cast(model as never, sanitized(model, copyFilter(filter)) as never) as Filter;
}

function isCast([path, value]: [string, unknown], model: Model<unknown>): boolean {
  if (isCompiled(value)) return true;
  if (path === "$and" && Array.isArray(value)) {
    return value.every((each) =>
      isJsonObject(each) && Object.entries(each).every((inner) => isCast(inner, model))
    );
  }
  return path === "_id" && value instanceof mongoose.Types.ObjectId &&
    model.schema.path("_id") instanceof mongoose.Schema.Types.ObjectId;
}

/** Mongoose must not cast the client's conditions again, because it would refuse some operators that MongoDB allows. */
export function withConditions<Q extends object>(query: Q, conditions: Filter): Q {
  // In middleware, `where()` replaces a condition on its path and widens a list of `$or`. It can only add to `$and`.
  const isJoined = Object.keys(conditions).every((key) => key === "$and");
  // `find()` may copy the conditions, but cast operators are known by the identity of their objects.
  const bound = isJoined ? conditions : { $and: [conditions] };
  (query as Query<unknown, unknown>).setQuery(bound as never);
  return replaceCast(query, castAround);
}

function castAround(filter: Filter, cast: (rest: Filter) => Filter): Filter {
  const compiled: Filter = {};
  const rest: Filter = {};
  for (const [key, value] of Object.entries(filter)) {
    if (isCompiled(value)) compiled[key] = value;
    else if (isClause(key) && Array.isArray(value)) {
      compiled[key] = value.map((each) => isJsonObject(each) ? castAround(each, cast) : each);
    } else rest[key] = value;
  }
  if (isEmpty(rest)) return compiled;
  // The cast changes its argument, so a copy is kept for the comparison.
  const given = copyFilter(rest);
  const result = cast(rest);
  checkCast("", { given, result });
  return { ...result, ...compiled };
}

/** A cast may only convert values. If it dropped a condition, the filter would select other entities. */
function checkCast(path: string, { given, result }: Record<"given" | "result", unknown>): void {
  if (isCompiled(given)) return;
  const loss = lossOf(result);
  if (loss !== undefined) throw changed(path, `it is ${loss}`);
  const after = Array.isArray(given) ? membersOf(listIn(result)) : storedMembers(result);
  if (after === undefined) {
    const isSent = typeof result !== "object" || result === null || Array.isArray(result) ||
      isStorable(result) || "toBSON" in result;
    // The value has no keys inside that the cast could have dropped.
    if (isSent) return;
    throw changed(path, "BSON does not know its class");
  }
  const before = Array.isArray(given) || isJsonObject(given)
    ? membersOf(given)
    : storedMembers(given) && after;
  if (before === undefined) throw changed(path, "Mongoose makes an object of it");
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const inner = path === "" ? key : `${path}.${key}`;
    if (!before.has(key)) throw changed(inner, "Mongoose adds it");
    if (!after.has(key)) throw changed(inner, "Mongoose drops it");
    checkCast(inner, { given: before.get(key), result: after.get(key) });
  }
}

function listIn(result: unknown): unknown {
  return isJsonObject(result) && Array.isArray(result.$in) ? result.$in : result;
}

function membersOf(value: unknown): ReadonlyMap<string, unknown> | undefined {
  return Array.isArray(value) ? new Map(Object.entries(value)) : storedMembers(value);
}

function changed(path: string, reason: string): TypeError {
  return new TypeError(`Cannot use the filter: "${path}" cannot be sent as it is: ${reason}`);
}
