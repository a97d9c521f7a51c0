import mongoose from "mongoose";
import type { Model } from "mongoose";

type Conditions = Record<string, unknown>;

export type Update = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export interface CastingQuery {
  getFilter(): Conditions;
  setQuery(conditions: Conditions): void;
  cast(model: unknown, conditions?: Conditions): Conditions;
  _castUpdate(update: Update): Update | undefined;
}

export function replaceCast<Q extends object>(
  query: Q,
  castBy: (conditions: Conditions, cast: (conditions: Conditions) => Conditions) => Conditions,
): Q {
  const casting = query as CastingQuery;
  const cast = casting.cast;
  casting.cast = function (model, other) {
    const given = other ?? this.getFilter();
    const result = castBy(given, (conditions) => cast.call(this, model, conditions));
    if (other === undefined) this.setQuery(result);
    return result;
  };
  return query;
}

/**
 * The conditions are cast already, and another cast would run setters again. Conditions that middleware adds are cast.
 */
export function matchAsIs(query: object, conditions: Conditions): void {
  replaceCast(query, (given, cast) => ({ $and: [conditions, cast(given)] }));
}

/** The update is cast already. Only paths that middleware adds are cast. */
export function writeAsIs(query: object, update: Update): void {
  const casting = query as CastingQuery;
  const cast = casting._castUpdate;
  casting._castUpdate = function (all) {
    const added = Object.entries(all).map(([operator, paths]) => [
      operator,
      Object.fromEntries(
        Object.entries(paths).filter(([path]) => !Object.hasOwn(update[operator] ?? {}, path)),
      ),
    ]);
    const result: Record<string, object> = { ...cast.call(this, Object.fromEntries(added)) };
    for (const [operator, paths] of Object.entries(update)) {
      result[operator] = { ...result[operator], ...paths };
    }
    return result as Update;
  };
}

export function populatedPaths(populate: unknown): ReadonlySet<string> {
  if (populate === undefined) return new Set();
  const query = new mongoose.Query().populate(populate as never);
  return new Set(Object.keys(query.mongooseOptions().populate ?? {}));
}

/**
 * With `sanitizeFilter` of Mongoose, operators without the mark of `mongoose.trusted()` become values to compare with.
 */
export function sanitized(
  model: Model<unknown>,
  filter: Record<string, unknown>,
): Record<string, unknown> {
  const set = model.db.get("sanitizeFilter") ?? mongoose.get("sanitizeFilter");
  return set ? mongoose.sanitizeFilter(filter as never) as Record<string, unknown> : filter;
}
