import { picks } from "./projected.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { unselectedPaths } from "../../schema/fields/unselected_paths.ts";
import type { Selection } from "../selection.ts";

/**
 * Gives the hooks' projection as the database takes it: what is not selected is left out unless it is asked for by name,
 * or by its name after a `+`.
 */
export function projectionOf(
  given: Readonly<Record<string, unknown>>,
  shape: Shape,
): Record<string, unknown> {
  const unselected = unselectedPaths(shape);
  const forced = unselected.filter((path) => Object.hasOwn(given, `+${path}`));
  const picking = picks(given) === true;
  const named = Object.entries(given).filter(([path, value]) =>
    // Beside fields that are left out, an aggregation would take the identifier for all that is shown.
    !path.startsWith("+") && (picking || path !== "_id" || !value)
  );
  // Mongoose's documents take a projection by the letter: who picks fields gets the identifier as well, as in a query.
  const others = picking
    ? ["_id", ...forced].map((path) => [path, 1])
    : unselected.filter((path) =>
      !forced.includes(path) && !named.some(([other]) => path.startsWith(`${other}.`))
    ).map((path) => [path, 0]);
  return Object.fromEntries([...others, ...named]);
}

/** Whether a read shows less than the whole, so that the answer of a write has to be read again. */
export function isNarrowed({ projection }: Selection, shape: Shape): boolean {
  return Object.keys(projection).length > 0 || unselectedPaths(shape).length > 0;
}
