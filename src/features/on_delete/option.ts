/**
 * @internal The effect if the entity of a reference is removed or put into the trash. `"restrict"` answers 409,
 * `"cascade"` removes the referring entities as well, `"unset"` removes the reference, and `"keep"` keeps the
 * reference.
 *
 * If only the referred class has a trash, a cascade says `{ cascade: "forGood" }`, because the referring entities
 * cannot be restored.
 */
export type OnDelete = "restrict" | "cascade" | { readonly cascade: "forGood" } | "unset" | "keep";

/**
 * @internal The rules of {@linkcode OnDelete} for a field with a list of references. `"cascade"` is not allowed,
 * because the list may also refer to entities that stay.
 */
export type ListOnDelete = "restrict" | "unset" | "keep";
