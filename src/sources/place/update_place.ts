import { topOf } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import { writtenPaths } from "../../write/apply_update.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { OptimisticUpdate } from "./optimistic_update.ts";
import type { MakeUpdate, OptimisticUpdateOptions } from "./optimistic_update.ts";
import type { Place } from "./place.ts";
import { completeUpdate, sendUpdate } from "./send_update.ts";
import { isExpressible, touches } from "./steps.ts";

export type UpdateOptions = Omit<OptimisticUpdateOptions, "property">;

/**
 * Updates a place: nothing is written unless all that leads to the entity is still there and in its scope, and stays in
 * it. One statement does so, unless that has to be judged first.
 *
 * @param update The update, its paths from the root.
 * @returns `false` if something did not hold: nothing was written.
 * @throws {RestError} 403 if the update leaves a scope on the way.
 */
export async function updatePlace(
  place: Place,
  update: Update,
  options: UpdateOptions = {},
): Promise<boolean> {
  if (isOneStatement(place, update, options)) {
    return await withLists(place, { options, write: () => sendUpdate(place, update, options) });
  }
  // All paths of an update are below one property, whose name comes first.
  const [path = "_id"] = writtenPaths(update);
  return await rewritePlace(place, () => update, { ...options, property: topOf(path) });
}

/** Updates a place as {@linkcode updatePlace} does, with an update that depends on what is stored. */
export async function rewritePlace(
  place: Place,
  make: MakeUpdate,
  options: OptimisticUpdateOptions,
): Promise<boolean> {
  const write = () => new OptimisticUpdate(place, make, options).run();
  return await withLists(place, { options, write });
}

/** Writes. If nothing matched, an object may be stored where a list belongs: it is made a list, and the write is repeated. */
async function withLists(
  place: Place,
  { options, write }: { options: UpdateOptions; write: () => Promise<boolean> },
): Promise<boolean> {
  if (await write()) return true;
  return await makeLists(place, options) && await write();
}

/** Whether one statement can say all that must hold, and the update leaves no scope on the way. */
export function isOneStatement(
  place: Place,
  update: Update,
  { condition = {} }: UpdateOptions,
): boolean {
  const { scope, steps } = place;
  const paths = writtenPaths(completeUpdate(place, update));
  return [...steps.map((step) => step.scope), condition].every(isExpressible) &&
    !touches(paths, { scope, steps: [] }) &&
    !steps.some((step, index) =>
      touches(paths, { scope: step.scope, steps: steps.slice(0, index + 1) })
    );
}

/** Makes lists of single objects that are stored on the way where lists belong; tells whether there were any. */
async function makeLists(place: Place, { session }: UpdateOptions): Promise<boolean> {
  for (const [index, { property, id }] of place.steps.entries()) {
    if (id === undefined) continue;
    const outer = place.upTo(index);
    const make: MakeUpdate = ({ [property]: stored }) =>
      isJsonObject(stored) ? { $set: { [outer.path(property)]: [stored] } } : undefined;
    const options = { property, session, keepsVersion: true };
    if (await new OptimisticUpdate(outer, make, options).run()) return true;
  }
  return false;
}
