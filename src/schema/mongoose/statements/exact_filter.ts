import mongoose from "mongoose";

type Conditions = Readonly<Record<string, unknown>>;

/**
 * Mongoose must not cast these conditions again: it would run setters and refuse some operators. The driver sends the
 * result of `toBSON()`. A copy by other code has only `$expr`, which MongoDB refuses, or else the copy would select all
 * documents.
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

  [Symbol.for("nodejs.util.inspect.custom")](): Conditions {
    return this.#conditions;
  }
}

/**
 * The application can read the conditions by name from properties that Mongoose and the driver ignore, because they are
 * not enumerable.
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

/** In any other filter, a property that is not enumerable is refused, because it would not be sent. */
export function isExactFilter({ $and }: Conditions): boolean {
  return Array.isArray($and) && $and[0] instanceof ExactCondition;
}
