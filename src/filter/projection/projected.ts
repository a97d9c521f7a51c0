import type { FieldShape } from "../../schema/fields/shape.ts";

/** A projection, as the database takes it. */
export type Projection = Readonly<Record<string, unknown>>;

/**
 * Tells of a path whether a read with a projection shows it, and so whether a default may stand for it.
 *
 * @param path The path.
 * @param embeds Whether objects of a class stand there, one or a list: one field of them may be shown.
 */
export type Shows = (path: string, embeds: boolean) => boolean;

/** Reads a projection as documents do: what of it is inside an object says what is shown there. */
export function projected(projection: Projection): Shows {
  const scopes = new Map<string, Projection>([["", projection]]);
  return (path, embeds) => {
    const end = path.lastIndexOf(".") + 1;
    const prefix = path.slice(0, end);
    let scope = scopes.get(prefix);
    if (scope === undefined) scopes.set(prefix, scope = within(projection, prefix));
    return isShown(scope, path.slice(end), embeds);
  };
}

/** Tells whether a projection picks what is shown, or names what is not; `undefined` for one that does neither. */
export function picks(projection: Projection): boolean | undefined {
  const paths = Object.keys(projection);
  const decisive = paths.find((path) =>
    path !== "_id" && !path.startsWith("+") && isDefining(projection[path])
  );
  if (decisive !== undefined) return Boolean(projection[decisive]);
  return paths.length === 1 && paths[0] === "_id" ? Boolean(projection._id) : undefined;
}

/** Tells whether objects of a class stand in a field, one or a list. */
export function embeds({ kind, element, shape }: FieldShape): boolean {
  return kind === "array" ? element?.shape !== undefined : kind === "object" && shape !== undefined;
}

function within(projection: Projection, prefix: string): Projection {
  return Object.fromEntries(
    Object.entries(projection).filter(([path]) => path.startsWith(prefix)).map((
      [path, value],
    ) => [path.slice(prefix.length), value]),
  );
}

function isShown(projection: Projection, name: string, embeds: boolean): boolean {
  const named = Object.hasOwn(projection, name);
  if (name === "_id") return !named || Boolean(projection._id);
  const picking = picks(projection);
  if (picking === undefined) return true;
  if (!picking) return !named;
  if (named && !isExpression(projection[name])) return Boolean(projection[name]);
  return embeds && (named || Object.keys(projection).some((path) => path.startsWith(`${name}.`)));
}

/** `$slice` and `$meta` shape a field and leave the others as they are. */
function isDefining(value: unknown): boolean {
  return typeof value !== "object" || value === null || !("$slice" in value || "$meta" in value);
}

/** Whether the database computes what is shown: no default stands for it. */
function isExpression(value: unknown): boolean {
  return typeof value === "object" && value !== null && isDefining(value) &&
    !("$elemMatch" in value);
}
