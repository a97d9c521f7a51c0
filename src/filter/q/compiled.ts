const compiled = new WeakSet<object>();

/** Marks operators of a client's filter: their values are cast, and must not be cast again. */
export function markCompiled<T extends object>(operators: T): T {
  compiled.add(operators);
  return operators;
}

export function isCompiled(condition: unknown): boolean {
  return typeof condition === "object" && condition !== null && compiled.has(condition);
}
