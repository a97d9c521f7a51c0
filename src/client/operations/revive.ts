/**
 * Replaces the text in the named fields of an entity by a `Date`, because dates in JSON are text. Changes and returns
 * the entity itself.
 */
export function revive<T>(entity: T, names: readonly string[] | undefined): T {
  if (typeof entity !== "object" || entity === null) return entity;
  const fields = entity as Record<string, unknown>;
  for (const name of names ?? []) {
    const value = fields[name];
    if (Array.isArray(value)) fields[name] = value.map(toDate);
    else if (name in fields) fields[name] = toDate(value);
  }
  return entity;
}

function toDate(value: unknown): unknown {
  return typeof value === "string" ? new Date(value) : value;
}
