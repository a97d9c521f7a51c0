import type { Model } from "mongoose";
import type { Shape } from "../shape/shape.ts";
import { unselectedPaths } from "../shape/unselected_paths.ts";
import type { Selection } from "../sources/source.ts";

/**
 * Gives a projection, in any form that the mapper takes, as the database takes it: what is not selected is left out
 * unless it is asked for by name, or by its name after a `+`.
 */
export function projectionOf(
  model: Model<unknown>,
  given: Record<string, unknown>,
  shape: Shape,
): Record<string, unknown> {
  const entries = Object.entries(model.find().select(given as never).projection() ?? {});
  const forced = entries.flatMap(([path]) => path.startsWith("+") ? [path.slice(1)] : []);
  const named = entries.filter(([path]) => !path.startsWith("+"));
  const picks = named.some(([path, value]) =>
    (path !== "_id" || named.length === 1) && Boolean(value)
  );
  // The mapper's documents take a projection by the letter: who picks fields gets the identifier as well, as in a query.
  const others = picks
    ? ["_id", ...forced].map((path) => [path, 1])
    : unselectedPaths(shape).filter((path) =>
      !forced.includes(path) && !named.some(([other]) => path.startsWith(`${other}.`))
    ).map((path) => [path, 0]);
  return Object.fromEntries([...others, ...named]);
}

/** Whether a read shows less than the whole, so that the answer of a write has to be read again. */
export function isNarrowed({ projection }: Selection, shape: Shape): boolean {
  return Object.keys(projection).length > 0 || unselectedPaths(shape).length > 0;
}
