const compiled = new WeakSet<object>();

/** Marks operators that were compiled from a client's filter: their values are cast, and nobody need do it again. */
export function markCompiled<T extends object>(operators: T): T {
  compiled.add(operators);
  return operators;
}

/** Tells whether a condition was compiled from a client's filter. */
export function isCompiled(condition: unknown): boolean {
  return typeof condition === "object" && condition !== null && compiled.has(condition);
}
