import mongoose from "mongoose";
import type { Model, Query } from "mongoose";
import type { Filter } from "./q/compile_filter.ts";
import { isCompiled } from "./q/compiled.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import { sanitized } from "../schema/mongoose/sanitized.ts";
import { castWhole } from "./cast_whole.ts";
import { copyFilter, isClause, isEmpty, KEEP_CONDITIONS } from "./filters.ts";

/** A query of Mongoose, whatever it gives. */
type AnyQuery = Query<unknown, unknown>;

/** Casts a filter to a model's types, as a query does before it runs. */
export function castFilter(model: Model<unknown>, filter: Filter): Filter {
  if (Object.entries(filter).every(([path, value]) => isCast(model, path, value))) return filter;
  const query = model.find().setOptions(KEEP_CONDITIONS) as AnyQuery;
  return withConditions(query, {}).cast(model, sanitized(model, copyFilter(filter))) as Filter;
}

/** Tells of the condition that names an entity that there is nothing to be cast. */
function isCast(model: Model<unknown>, path: string, value: unknown): boolean {
  return path === "_id" && value instanceof mongoose.Types.ObjectId &&
    model.schema.path("_id") instanceof mongoose.Schema.Types.ObjectId;
}

/**
 * Gives a query of Mongoose its conditions. It casts what hooks gave, and leaves alone what was compiled from a
 * client's filter: Mongoose knows fewer operators for a type than the database does.
 */
export function withConditions<Q>(query: Q, conditions: Filter): Q {
  const casting = query as AnyQuery;
  // Set as they are: Mongoose's own ways may copy them, and lose the marks.
  casting.setQuery(conditions as never);
  const castAll = casting.cast;
  casting.cast = function (model, other) {
    const given = (other ?? this.getFilter()) as Filter;
    const result = castAround(given, (rest) => castAll.call(this, model, rest) as Filter);
    if (other === undefined) this.setQuery(result as never);
    return result as never;
  };
  return query;
}

function castAround(filter: Filter, cast: (rest: Filter) => Filter): Filter {
  const kept: Filter = {};
  const rest: Filter = {};
  for (const [key, value] of Object.entries(filter)) {
    if (isCompiled(value)) kept[key] = value;
    else if (isClause(key) && Array.isArray(value)) {
      kept[key] = value.map((each) => isJsonObject(each) ? castAround(each as Filter, cast) : each);
    } else rest[key] = value;
  }
  return { ...isEmpty(rest) ? rest : castWhole(rest, cast), ...kept };
}
