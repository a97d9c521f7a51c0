import type { Filter } from "../../filter/filters.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { Update } from "../../schema/mongoose/statements/query_casts.ts";
import { valueAt } from "../stored_values.ts";

/** The other operators add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * Gives the paths of which an update writes more than was asked for, so that it depends on what was read there: arrays
 * that it replaces or names positions of, and objects that it puts where none was.
 */
export function replacedPaths(
  update: Update,
  { shape, stored }: { readonly shape: Shape; readonly stored: Filter },
): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const [path, value] of Object.entries(paths)) {
      const array = arrayOn(path.split("."), shape);
      if (array === undefined) {
        const isNew = !isJsonObject(valueAt(stored, path));
        if (isNew && (isJsonObject(value) || value instanceof Map)) found.add(path);
      } else if (array !== path || REPLACING.has(operator)) found.add(array);
    }
  }
  return [...found];
}

function arrayOn([first = "", ...rest]: readonly string[], shape: Shape): string | undefined {
  let field: FieldShape | undefined = shape.fields.get(first);
  let path = first;
  for (const name of rest) {
    if (field?.kind !== "object" && field?.kind !== "map") break;
    field = field.kind === "map" ? field.element : field.shape?.fields.get(name);
    path = `${path}.${name}`;
  }
  return field?.kind === "array" ? path : undefined;
}
