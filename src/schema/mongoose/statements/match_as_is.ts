/** The part of a query of Mongoose that casts its conditions. */
interface CastingQuery {
  getFilter(): Record<string, unknown>;
  setQuery(filter: Record<string, unknown>): void;
  cast(model: unknown, filter?: Record<string, unknown>): Record<string, unknown>;
}

/**
 * Has a query match conditions as they are, and cast only what it has besides, such as what middleware adds: they are
 * cast already, and a second cast would run setters twice.
 */
export function matchAsIs(query: object, conditions: Record<string, unknown>): void {
  const casting = query as CastingQuery;
  const cast = casting.cast;
  casting.cast = function (model, other) {
    const rest = cast.call(this, model, other ?? this.getFilter());
    const all = { $and: [conditions, rest] };
    if (other === undefined) this.setQuery(all);
    return all;
  };
}
