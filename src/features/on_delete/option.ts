/**
 * @internal The work of the framework if the entity that a reference names is removed or put into the trash.
 * `"restrict"` answers 409, `"cascade"` removes the referring entities as well, `"unset"` removes the reference, and
 * `"keep"` keeps the reference.
 *
 * If the referred class has a trash and the referring class has none, a cascade says `{ cascade: "forGood" }`, because
 * the referring entities cannot be restored.
 */
export type OnDelete = "restrict" | "cascade" | { readonly cascade: "forGood" } | "unset" | "keep";

/**
 * @internal The rules of {@linkcode OnDelete} for a field with a list of references. `"cascade"` is not allowed,
 * because the list may also refer to entities that stay.
 */
export type ListOnDelete = "restrict" | "unset" | "keep";
