import { isJsonObject } from "../schema/fields/json.ts";
import type { Filter } from "../filter/filters.ts";
import { fieldsOn } from "../filter/q/resolve_path.ts";
import type { Shape } from "../schema/fields/shape.ts";
import type { Update } from "../schema/mongoose/statements/query_casts.ts";
import { valueAt } from "./stored_values.ts";

/** Matches a stored object: `$type` alone also matches a list with an object in it. */
export function isObjectAt(path: string): Filter {
  return { [path]: { $type: "object", $not: { $type: "array" } } };
}

/** An entity as an update found it. */
interface Reading {
  readonly shape: Shape;
  readonly stored: Filter;
}

export function writtenPaths(update: Update): string[] {
  return Object.values(update).flatMap((paths) => Object.keys(paths));
}

/** The other operators add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * Gives the paths of which an update writes more than was asked for: arrays that it replaces or names positions of, and
 * objects that it puts where none was. It depends on what was read there. One that overwrites depends on those arrays only
 * whose elements keep what no body may set.
 */
export function replacedPaths(
  update: Update,
  { shape, stored, overwrites = false }: Reading & { readonly overwrites?: boolean | undefined },
): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, value] of Object.entries(paths)) {
      const [array, field] = fieldsOn(path, shape).find(([, { kind }]) => kind === "array") ?? [];
      if (array === undefined) {
        const isNew = !isJsonObject(valueAt(stored, path));
        if (!overwrites && isNew && (isJsonObject(value) || value instanceof Map)) found.add(path);
      } else if (array !== path || REPLACING.has(operator)) {
        if (!overwrites || field?.element?.shape?.guarded) found.add(array);
      }
    }
  }
  return [...found];
}

/** Gives the embedded objects into which an update writes: of one that is gone meanwhile, a part would come back. */
export function enteredObjects(update: Update, { shape, stored }: Reading): string[] {
  const { $unset: _gone, ...writing } = update;
  const entered = writtenPaths(writing).flatMap((path) =>
    fieldsOn(path, shape).filter(([at, { kind, type }]) =>
      at !== path && kind === "object" && type !== undefined && isJsonObject(valueAt(stored, at))
    ).map(([at]) => at)
  );
  return [...new Set(entered)];
}
