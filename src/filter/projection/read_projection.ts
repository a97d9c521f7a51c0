import { lossOf } from "../../schema/mongoose/kept_values.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import { unselectedPaths } from "../../schema/fields/unselected_paths.ts";

/**
 * Reads a projection that hooks gave, in any form that Mongoose takes: names in a text or a list, an object, objects
 * within it. The result is one object of paths, a `+` before those that are added to what a read selects.
 *
 * @throws {TypeError} If it has another form, or a value in it says neither way: a field would be shown, or a cursor fail
 * where nobody can catch it.
 */
export function readProjection(given: unknown, shape: Shape): Record<string, unknown> {
  const unselected = unselectedPaths(shape);
  // The database would take a `+` before any other path for a name.
  const entries = entriesOf(given).filter(([path]) =>
    !path.startsWith("+") || unselected.includes(path.slice(1))
  );
  return Object.fromEntries(entries);
}

function entriesOf(given: unknown): [string, unknown][] {
  if (given === undefined || given === null) return [];
  const names = typeof given === "string" ? given.split(/\s+/) : given;
  if (Array.isArray(names)) return names.filter(isNamed).map(fromName);
  if (!isJsonObject(given)) throw new TypeError("Cannot use the projection: it is no object");
  return Object.entries(given).flatMap(([key, value]) => fromEntry(key, value));
}

/** Spaces around names leave empty ones. */
function isNamed(name: unknown): name is string {
  if (typeof name === "string") return name !== "";
  throw new TypeError("Cannot use the projection: its list holds what is no name");
}

function fromName(name: string): [string, unknown] {
  return name.startsWith("-") ? [name.slice(1), 0] : [name, 1];
}

function fromEntry(path: string, value: unknown): [string, unknown][] {
  const loss = value === null ? "null" : lossOf(value);
  if (loss !== undefined) {
    throw new TypeError(`Cannot use the projection: "${path}" is ${loss}`);
  }
  // To Mongoose the sign counts, whatever the value.
  if (path.startsWith("-")) return [[path.slice(1), 0]];
  if (!isNested(value)) return [[path, value]];
  return Object.entries(value).flatMap(([key, each]) => fromEntry(`${path}.${key}`, each));
}

/** Whether a value projects the fields of an object one by one. */
function isNested(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.keys(value).length > 0 &&
    Object.keys(value).every((key) => !key.startsWith("$"));
}
