import type { ClientSession } from "mongoose";
import { everyFilter, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { Filter } from "../../filter/filters.ts";
import { hasNoVersion, hasVersion } from "../../filter/versions.ts";
import { stampFields } from "../../schema/mongoose/schemas/schema_members.ts";
import { matchAsIs, writeAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import { writtenPaths } from "../../write/apply_update.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { versionKey } from "../../write/save/count_version.ts";
import type { Place } from "./place.ts";
import { elementIds, namesInto, stepConditions } from "./steps.ts";

/** What must hold, besides the identifiers and scopes on the way. */
export interface SendOptions {
  /** What must hold of the entity, cast. */
  readonly condition?: Filter | undefined;
  /** What must hold of the document, cast. */
  readonly pins?: Filter | undefined;
  readonly session?: ClientSession | undefined;
  /** Whether the version stays: to its readers the document is the same. */
  readonly keepsVersion?: boolean | undefined;
}

/**
 * Updates the document of a place in one statement, which repeats every identifier and every expressible scope on the
 * way. Its version goes up; one that is no whole number becomes 1, by another statement.
 *
 * @param update The update, its paths from the root.
 * @returns `false` if something did not hold.
 */
export async function sendUpdate(
  place: Place,
  update: Update,
  options: SendOptions,
): Promise<boolean> {
  const { keepsVersion = false } = options;
  const key = versionKey(place.model);
  if (keepsVersion || key === undefined) {
    return await send(place, update, { ...options, counted: update });
  }
  const bound = (...conditions: Filter[]) => everyFilter(options.pins ?? {}, ...conditions);
  const next = {
    ...options,
    counted: versionUpdate(place, update),
    pins: bound(hasVersion(key)),
  };
  if (await send(place, update, next)) return true;
  if (place.isCounted) return false;
  const first = { ...update, $set: { ...update.$set, [key]: 1 } };
  const start = { ...options, counted: first, pins: bound(hasNoVersion(key)) };
  // Another request may count the version in the meantime.
  return await send(place, update, start) || await send(place, update, next);
}

async function send(
  place: Place,
  update: Update,
  { condition = {}, pins = {}, session, counted }: SendOptions & { readonly counted: Update },
): Promise<boolean> {
  const { model, id, scope, version, steps, timeBudget } = place;
  const options = {
    ...KEEP_CONDITIONS,
    arrayFilters: Object.entries(elementIds(steps)).map(([name, _id]) => ({
      [`${name}._id`]: _id,
    })),
    ...timeBudget.statement(session),
  };
  const query = model.updateOne(
    { _id: id },
    { ...counted, $set: { ...stampsOf(place, update), ...counted.$set } } as never,
    options as never,
  );
  matchAsIs(query, everyFilter(scope, version, stepConditions(steps, condition), pins));
  writeAsIs(query, counted);
  const { matchedCount } = await query.exec();
  // Where a connection keeps numbers in objects, they are no zeros.
  return Number(matchedCount) !== 0;
}

/** The update with all that {@linkcode sendUpdate} and Mongoose add to it, so that scopes can be compared with its paths. */
export function completeUpdate(place: Place, update: Update): Update {
  const { updatedAt } = stampFields(place.model.schema);
  const stamps = { ...stampsOf(place, update), ...updatedAt && { [updatedAt]: new Date() } };
  const counted = versionUpdate(place, update);
  if (Object.keys(stamps).length === 0) return counted;
  return { ...counted, $set: { ...stamps, ...update.$set } };
}

function versionUpdate({ model }: Place, update: Update): Update {
  const key = versionKey(model);
  return key !== undefined ? { ...update, $inc: { ...update.$inc, [key]: 1 } } : update;
}

/** The `updatedAt` of every object around the change. Mongoose sets that of the root only. */
function stampsOf({ steps }: Place, update: Update): Record<string, Date> {
  const written = writtenPaths(update);
  const stamps = steps.flatMap(({ stamp }, index) =>
    stamp === undefined ? [] : [[...namesInto(steps.slice(0, index + 1)), stamp].join(".")]
  );
  const free = stamps.filter((path) =>
    written.length > 0 && !written.some((other) => `${path}.`.startsWith(`${other}.`))
  );
  return Object.fromEntries(free.map((path) => [path, new Date()]));
}
