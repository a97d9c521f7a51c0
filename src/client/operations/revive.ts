/** Changes the given entity or list, and returns it. */
export function revive<T>(entities: T, names: readonly string[] = []): T {
  for (const entity of [entities].flat().map(Object)) {
    for (const name of names) {
      const value = entity[name];
      if (name in entity) entity[name] = Array.isArray(value) ? value.map(toDate) : toDate(value);
    }
  }
  return entities;
}

function toDate(value: unknown): unknown {
  return typeof value === "string" ? new Date(value) : value;
}
