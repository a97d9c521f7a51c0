import mongoose from "mongoose";

type Conditions = Readonly<Record<string, unknown>>;

/**
 * A condition that queries of Mongoose send without another cast: a cast runs setters again, and Mongoose knows fewer
 * operators for a type than the database does. Mongoose reads the properties of the object, and the driver sends the
 * result of `toBSON()`. A copy of the object has the properties alone, which the database refuses.
 */
class ExactCondition {
  readonly $expr = Object.freeze(mongoose.trusted({ $copyOfAnExactFilter: true }));
  readonly #conditions: Conditions;

  constructor(conditions: Conditions) {
    this.#conditions = conditions;
    Object.freeze(this);
  }

  toBSON(): Conditions {
    return this.#conditions;
  }

  /** Returns the conditions for `console.log()`. */
  [Symbol.for("nodejs.util.inspect.custom")](): Conditions {
    return this.#conditions;
  }
}

/**
 * Returns a filter that every method of a model sends exactly; the conditions are cast already. Their fields can be read by
 * name, but Mongoose and the driver take what is enumerable.
 */
export function exactFilter(conditions: Conditions): Record<string, unknown> {
  const entries = Object.entries(conditions);
  if (entries.length === 0) return {};
  const filter = { $and: [new ExactCondition(conditions)] };
  for (const [name, value] of entries) {
    if (!name.startsWith("$")) Object.defineProperty(filter, name, { value });
  }
  return filter;
}

/** Whether an object is a filter of `exactFilter()`. */
export function isExactFilter({ $and }: Conditions): boolean {
  return Array.isArray($and) && $and[0] instanceof ExactCondition;
}
