import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import type { Update } from "../apply_update.ts";

/** Operators that replace or drop what they name; the others add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/**
 * Gives the paths of the arrays that an update replaces, or of which it names positions: what it writes there depends on
 * what was read. The keys of free-form objects and of maps are no positions.
 */
export function touchedArrays(update: Update, shape: Shape): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const path of Object.keys(paths)) {
      const array = arrayOn(path.split("."), shape);
      if (array !== undefined && (array !== path || REPLACING.has(operator))) found.add(array);
    }
  }
  return [...found];
}

/** The outermost array on a path. */
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
