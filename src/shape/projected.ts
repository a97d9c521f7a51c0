/** A projection, as hooks write it. */
export type Projection = Readonly<Record<string, unknown>>;

/**
 * Tells of a path whether a read with a projection shows it.
 *
 * @param path The path.
 * @param selected Whether reads show it unless told otherwise.
 */
export type Shows = (path: string, selected: boolean) => boolean;

/** Reads a projection: which paths are named, and whether they are those that are shown. */
export function projected(projection: Projection): Shows {
  const named = new Map(
    Object.entries(projection).map(([path, value]) => [path.replace(/^\+/, ""), isShown(value)]),
  );
  const paths = Object.keys(projection).filter((path) => !path.startsWith("+"));
  const inclusive = paths.some((path) => path !== "_id" && isInclusion(projection[path])) ||
    (paths.length === 1 && isInclusion(projection._id));
  return (path, selected) => {
    const known = nearest(named, path);
    if (known !== undefined) return known;
    return selected && (!inclusive || path === "_id");
  };
}

/** What a projection says of a path, or of the object around it. */
function nearest(named: ReadonlyMap<string, boolean>, path: string): boolean | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const known = named.get(path.slice(0, end));
    if (known !== undefined) return known;
  }
  return undefined;
}

function isShown(value: unknown): boolean {
  return typeof value === "object" || Boolean(value);
}

/** `$slice` and the like shape a field and leave the others as they are. */
function isInclusion(value: unknown): boolean {
  return typeof value !== "object" && Boolean(value);
}
