/**
 * The work of the framework if the entity that a reference names is removed or put into the trash. With `"restrict"`,
 * the removal answers 409. With `"cascade"`, the referring entities are removed as well. With `"unset"`, the reference
 * is removed. With `"keep"`, the reference stays.
 */
export type OnDelete = "restrict" | "cascade" | "unset" | "keep";

/**
 * The rules of {@linkcode OnDelete} for a field with a list of references. `"cascade"` is not allowed, because the list
 * may also refer to entities that stay.
 */
export type ListOnDelete = Exclude<OnDelete, "cascade">;
