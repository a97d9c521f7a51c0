const tags = new WeakMap<object, string>();

export function rememberEtag(entity: unknown, etag: string | null): void {
  if (etag !== null && Object(entity) === entity) tags.set(entity as object, etag);
}

/**
 * Returns the `ETag` of an entity that `one()` or a write has returned. A copy of the object and entities of lists have
 * none.
 *
 * @param entity The entity.
 * @returns The `ETag`, or `undefined` if the client has none for this object.
 */
export function etagOf(entity: object): string | undefined {
  return tags.get(entity);
}

/** The value of `If-Match`. An entity of a list and a copy have no `ETag`, so their version `__v` stands for it. */
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
