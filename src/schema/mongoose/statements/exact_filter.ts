import mongoose from "mongoose";

type Conditions = Readonly<Record<string, unknown>>;

/**
 * A second cast by Mongoose would run setters again and refuse operators that the database
 * supports. The driver sends the result of `toBSON()`.
 *
 * A copy has only `$expr`, which the database refuses, so a copy cannot select more documents.
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

  /** `console.log()` would print only `$expr`. */
  [Symbol.for("nodejs.util.inspect.custom")](): Conditions {
    return this.#conditions;
  }
}

/**
 * Code of the application can read the conditions by name. Mongoose and the driver ignore
 * properties that are not enumerable.
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
 * In any other filter, a property that is not enumerable is refused, because the database would not
 * get it.
 */
export function isExactFilter({ $and }: Conditions): boolean {
  return Array.isArray($and) && $and[0] instanceof ExactCondition;
}
