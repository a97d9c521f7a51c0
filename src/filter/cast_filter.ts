import mongoose from "mongoose";
import type { Model, Query } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { sanitized } from "../schema/mongoose/sanitized.ts";
import { replaceCast } from "../schema/mongoose/statements/match_as_is.ts";
import { castWhole } from "./cast_whole.ts";
import { copyFilter, isClause, isEmpty, KEEP_CONDITIONS } from "./filters.ts";
import type { Filter } from "./filters.ts";
import { isCompiled } from "./q/compiled.ts";

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
