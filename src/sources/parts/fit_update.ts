import mongoose from "mongoose";
import type { Document } from "mongoose";
import { rawValues } from "../../schema/mongoose/internals.ts";
import type { StoredObject, Update } from "../../write/apply_update.ts";
import type { Place } from "./place.ts";

/** What the database says of a path that leads through a value that is no object. */
const PATH_NOT_VIABLE = 28;

/** Whether the database refused an update because of what is stored on the way of a path. */
export function isPathRefused(error: unknown): boolean {
  return error instanceof mongoose.mongo.MongoServerError && error.code === PATH_NOT_VIABLE;
}

/** Moves an update of an entity to where the entity is stored. */
export function moveUpdate(update: Update, place: Place): Update {
  return mapPaths(update, (path, value) => [place.path(path), value]);
}

/** Has an update write the whole of what is stored as no object, in the place of a path through it. */
export function fitUpdate(
  { $set = {}, ...rest }: Update,
  doc: Document,
  stored: StoredObject,
): Update {
  const entries = Object.entries($set).map(([path, value]) => {
    const end = endOf(path, stored);
    return end === path ? [path, value] : [end, valueAt(rawValues(doc), end)];
  });
  return { ...rest, $set: Object.fromEntries(entries) };
}

/** A path, cut after the first value on its way that is no object. */
function endOf(path: string, stored: StoredObject): string {
  const names = path.split(".");
  let value: unknown = stored;
  for (const [index, name] of names.entries()) {
    if (!holds(value, name)) return names.slice(0, index).join(".");
    value = (value as StoredObject)[name];
    if (value === undefined) return path;
  }
  return path;
}

/** Whether the database can go from a value to what it holds under a name. */
function holds(value: unknown, name: string): boolean {
  if (Array.isArray(value)) return /^\d+$/.test(name);
  return typeof value === "object" && value !== null;
}

function valueAt(values: unknown, path: string): unknown {
  return path.split(".").reduce(
    (value, name) =>
      value instanceof Map ? value.get(name) : (value as StoredObject | undefined)?.[name],
    values,
  );
}

function mapPaths(
  update: Update,
  map: (path: string, value: unknown) => [string, unknown],
): Update {
  return Object.fromEntries(
    Object.entries(update).map(([operator, paths]) => [
      operator,
      Object.fromEntries(Object.entries(paths).map(([path, value]) => map(path, value))),
    ]),
  );
}
