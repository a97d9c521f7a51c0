import mongoose from "mongoose";

type Conditions = Readonly<Record<string, unknown>>;

/**
 * A second cast by Mongoose would run setters again and refuse operators that the database supports for a type. The
 * driver sends the result of `toBSON()`.
 *
 * A copy of the object has only its property `$expr`. The database refuses a query with this `$expr`, so a copy cannot
 * select more documents than the conditions do.
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

  /** `console.log()` would otherwise print only `$expr`. */
  [Symbol.for("nodejs.util.inspect.custom")](): Conditions {
    return this.#conditions;
  }
}

/**
 * Code of the application can read the fields of the conditions by name. These properties are not enumerable, so
 * Mongoose and the driver ignore them.
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

/**
 * The properties of an exact filter that are not enumerable only repeat its conditions. In any other filter, such a
 * property is refused, because the database would not get it.
 */
export function isExactFilter({ $and }: Conditions): boolean {
  return Array.isArray($and) && $and[0] instanceof ExactCondition;
}
