const tags = new WeakMap<object, string>();

export function rememberEtag(entity: unknown, etag: string | null): void {
  if (etag !== null && Object(entity) === entity) tags.set(entity as object, etag);
}

/**
 * Returns the `ETag` of an entity that `one()` or a write has returned. The client remembers the `ETag` with the
 * returned object, so a copy of the object has none. Entities of lists have no `ETag` either.
 *
 * @param entity The entity.
 * @returns The `ETag`, or `undefined` if the client has none for this object.
 */
export function etagOf(entity: object): string | undefined {
  return tags.get(entity);
}

/**
 * Returns the value of `If-Match` for an entity. The value is the `ETag` of the entity. For an entity of a list or a
 * copy, which have no `ETag`, the value is the version `__v`. A string is returned unchanged.
 *
 * @throws {TypeError} If the entity has neither an `ETag` nor `__v`.
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
