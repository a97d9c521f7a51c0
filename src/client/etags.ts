const tags = new WeakMap<object, string>();

export function rememberEtag(entity: unknown, etag: string | null): void {
  if (etag !== null && typeof entity === "object" && entity !== null) tags.set(entity, etag);
}

/**
 * Returns the `ETag` of an entity that the client has read or written. A copy of the entity has none.
 *
 * @param entity The entity.
 * @returns The `ETag`, or `undefined`.
 */
export function etagOf(entity: object): string | undefined {
  return tags.get(entity);
}

/**
 * Gives the `If-Match` of an entity: its `ETag`, or its version, which an entity of a list and a copy have too.
 *
 * @throws {TypeError} If it has neither.
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
