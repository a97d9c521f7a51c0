/** The sizes of the collections that lists are read from; each is a collection of its own. */
export const SIZES = [10, 20, 100, 1_000, 10_000, 100_000] as const;

/** One of {@linkcode SIZES}. */
export type Size = typeof SIZES[number];

/** The collection that new entities go to. */
export const CREATED = "created";

/** The collection whose entities are updated. */
export const UPDATED = "updated";

/** The collection whose entities are changed all at once, and replaced. */
export const CHANGED = "changed";

/** How many entities {@linkcode UPDATED} has, and `one` is asked for. */
export const TARGETS = 1_000;

/** The list of {@linkcode TARGETS} entities behind a hook that gets what the server's reads give. */
export const HOOKED = "hooked1000";

/** The same list behind a hook that gets plain instances: Mongrove's `lean: true`. */
export const LEAN_HOOKED = "lean1000";

/** What hooks of a server get of an entity. */
export type HookKind = "documents" | "lean";

/** What hooks may get of an entity. */
export const HOOK_KINDS: readonly HookKind[] = ["documents", "lean"];

/** Names the route that serves a collection behind hooks. */
export function guarded(kind: HookKind, collection: string): string {
  return `${kind}-${collection}`;
}

/** Names the collection of a size. */
export function itemsOf(size: Size): string {
  return `items${size}`;
}

/** Every collection with its number of entities at the start. */
export const COLLECTIONS: ReadonlyMap<string, number> = new Map([
  ...SIZES.map((size): [string, number] => [itemsOf(size), size]),
  [UPDATED, TARGETS],
  [CHANGED, TARGETS],
  [CREATED, 0],
]);
