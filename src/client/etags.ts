const tags = new WeakMap<object, string>();

export function rememberEtag(entity: unknown, etag: string | null): void {
  if (etag !== null && Object(entity) === entity) tags.set(entity as object, etag);
}

/**
 * Returns the `ETag` of an entity that `one()` or a write has returned, or `undefined`. Copies and entities of lists
 * have none.
 */
export function etagOf(entity: object): string | undefined {
  return tags.get(entity);
}

/**
 * The value of `If-Match`. For an entity without an `ETag`, such as a copy or an element of a list, the value is `__v`.
 */
export function matchOf(entity: object | string): string {
  if (typeof entity === "string") return entity;
  const { __v } = entity as { readonly __v?: unknown };
  const tag = tags.get(entity) ?? (typeof __v === "number" ? `"${__v}"` : undefined);
  if (tag === undefined) {
    throw new TypeError(
      "Cannot send If-Match: the entity has neither an ETag nor __v; read it with one()",
    );
  }
  return tag;
}
