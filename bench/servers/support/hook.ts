/** What the hook looks at. */
export interface Starred {
  /** A field that every entity has. */
  readonly stars: number;
}

/** The hook that servers run for each entity: looks at a field, and keeps the entity or drops it. */
export function keepStarred<T extends Starred>(item: T): T | null {
  return item.stars >= 0 ? item : null;
}

/** Runs the hook over a list, for servers that have no hooks of their own. */
export function keepAllStarred<T extends Starred>(items: readonly T[]): T[] {
  return items.map(keepStarred).filter((item) => item !== null);
}
