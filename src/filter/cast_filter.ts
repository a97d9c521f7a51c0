import mongoose from "mongoose";
import type { Model, Query } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { replaceCast, sanitized } from "../schema/mongoose/statements/query_casts.ts";
import { copyFilter, isClause, isCompiled, isEmpty, KEEP_CONDITIONS } from "./filters.ts";
import type { Filter } from "./filters.ts";
import { isStorable, lossOf, storedMembers } from "../schema/mongoose/bson.ts";

type AnyQuery = Query<unknown, unknown>;

/** Casts a filter as a query does before it runs. */
export function castFilter(model: Model<unknown>, filter: Filter): Filter {
  if (Object.entries(filter).every((condition) => isCast(condition, model))) return filter;
  const query = withConditions(model.find().setOptions(KEEP_CONDITIONS), {});
  return query.cast(model as never, sanitized(model, copyFilter(filter)) as never) as Filter;
}

function isCast([path, value]: [string, unknown], model: Model<unknown>): boolean {
  return path === "_id" && value instanceof mongoose.Types.ObjectId &&
    model.schema.path("_id") instanceof mongoose.Schema.Types.ObjectId;
}

/**
 * Gives a query of Mongoose its conditions. It casts what hooks gave, but not what was compiled from a client's filter:
 * Mongoose knows fewer operators for a type than the database does.
 */
export function withConditions<Q extends object>(query: Q, conditions: Filter): Q {
  // Other methods of the query may copy the conditions, and the copies would have no marks.
  (query as AnyQuery).setQuery(conditions as never);
  return replaceCast(query, castAround);
}

function castAround(filter: Filter, cast: (rest: Filter) => Filter): Filter {
  const kept: Filter = {};
  const rest: Filter = {};
  for (const [key, value] of Object.entries(filter)) {
    if (isCompiled(value)) kept[key] = value;
    else if (isClause(key) && Array.isArray(value)) {
      kept[key] = value.map((each) => isJsonObject(each) ? castAround(each, cast) : each);
    } else rest[key] = value;
  }
  return { ...isEmpty(rest) ? rest : castWhole(rest, cast), ...kept };
}

/**
 * Casts conditions that hooks gave. A cast converts values: where it drops a condition or adds to it, the filter would
 * select something else.
 */
function castWhole(conditions: Filter, cast: (conditions: Filter) => Filter): Filter {
  // The cast changes its argument.
  const given = copyFilter(conditions);
  const result = cast(conditions);
  for (const [path, value] of Object.entries(given)) {
    if (!Object.hasOwn(result, path)) throw changed(path, "Mongoose drops it");
    compare({ path, given: value, result: result[path] });
  }
  return result;
}

interface Cast<T> {
  readonly path: string;
  readonly given: T;
  readonly result: unknown;
}

function compare({ path, given, result }: Cast<unknown>): void {
  if (isCompiled(given)) return;
  if (isJsonObject(given)) return compareObjects({ path, given, result });
  if (Array.isArray(given)) return compareLists({ path, given, result });
  if (storedMembers(result) !== undefined && storedMembers(given) === undefined) {
    throw changed(path, "Mongoose makes an object of it");
  }
  checkSent(result, path);
}

function compareObjects({ path, given, result }: Cast<object>): void {
  const members = storedMembers(result);
  // An object that has an identifier is cast to it.
  if (members === undefined) return checkSent(result, path);
  const keys = Object.keys(given);
  const added = [...members.keys()].filter((key) => !Object.hasOwn(given, key));
  const dropped = keys.filter((key) => !members.has(key));
  if (added.length > 0) throw changed(path, `Mongoose adds "${added.join(`", "`)}" to the object`);
  if (dropped.length > 0) throw changed(path, `Mongoose drops "${dropped.join(`", "`)}" of it`);
  for (const [key, value] of Object.entries(given)) {
    compare({ path: `${path}.${key}`, given: value, result: members.get(key) });
  }
}

function compareLists({ path, given, result }: Cast<readonly unknown[]>): void {
  const list = Array.isArray(result) ? result : (result as { $in?: unknown } | null)?.$in;
  if (!Array.isArray(list)) return checkSent(result, path);
  if (list.length !== given.length) throw changed(path, "Mongoose changes the length of the list");
  given.forEach((each, index) =>
    compare({ path: `${path}.${index}`, given: each, result: list[index] })
  );
}

function checkSent(value: unknown, path: string): void {
  const loss = lossOf(value);
  if (loss !== undefined) throw changed(path, `it is ${loss}`);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    return value.forEach((each, index) => checkSent(each, `${path}.${index}`));
  }
  if (isStorable(value) || isJsonObject(value)) return;
  const { toBSON } = value as { toBSON?: () => unknown };
  if (typeof toBSON !== "function") throw changed(path, "BSON does not know its class");
  checkSent(toBSON.call(value), path);
}

function changed(path: string, reason: string): TypeError {
  return new TypeError(`Cannot use the filter: "${path}" cannot be sent as it is: ${reason}`);
}
