import type { Knowledge } from "../knowledge.ts";

type Conditions = Record<string, unknown>;

/** The part of a query of Mongoose that casts its conditions. */
interface CastingQuery {
  getFilter(): Conditions;
  setQuery(conditions: Conditions): void;
  cast(model: unknown, conditions?: Conditions): Conditions;
}

/** Replaces how a query casts its conditions; `castBy` also gets the query's own cast. */
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

/** Has a query match conditions as they are, and cast only what middleware adds: a second cast runs setters again. */
export function matchAsIs(query: object, conditions: Conditions): void {
  replaceCast(query, (given, cast) => ({ $and: [conditions, cast(given)] }));
}

/** How a query casts its conditions: a scope that did not get into the statement would bind nothing. */
export const CONDITION_CASTS: Knowledge = {
  name: "casts of conditions",
  holds({ model }) {
    const query = model.updateOne({ number: "1" }, {});
    const conditions = { text: 1 };
    matchAsIs(query, conditions);
    (query as unknown as { _castConditions(): void })._castConditions();
    const { $and } = query.getFilter() as { $and?: readonly Record<string, unknown>[] };
    return $and?.[0] === conditions && $and[1]?.number === 1;
  },
};
