/**
 * @internal The effect of a removal, also into the trash, on references to the entity: `"restrict"` answers 409,
 * `"cascade"` removes the referring entities too, `"unset"` removes the reference, and `"keep"` keeps it.
 *
 * If only the referred class has a trash, write `{ cascade: "forGood" }`, because the referring entities
 * cannot be restored.
 */
export type OnDelete = "restrict" | "cascade" | { readonly cascade: "forGood" } | "unset" | "keep";

/**
 * @internal The rules of {@linkcode OnDelete} for a list of references, without `"cascade"`, because the list may also
 * refer to entities that stay.
 */
export type ListOnDelete = "restrict" | "unset" | "keep";
