import { isDocument } from "../../schema/mongoose/bson.ts";
import type { Filter } from "../../filter/q/compile_filter.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { StoredObject, Update } from "../apply_update.ts";
import type { FreshObject } from "./fresh_objects.ts";
import { valueAt } from "./pin.ts";
import { storedValues } from "../stored_values.ts";

/** What an update writes, and what must hold. */
export interface PlannedUpdate {
  readonly update: Update;
  readonly conditions: readonly Filter[];
}

/**
 * Makes an update create an object only if none is stored: it merges into one that is, and leaves alone there what was
 * only a default.
 */
export function mergeFresh(
  update: Update,
  { objects, stored }: {
    readonly objects: readonly FreshObject[];
    readonly stored: StoredObject | undefined;
  },
): PlannedUpdate {
  const set: Record<string, unknown> = { ...update.$set };
  const conditions: Filter[] = [];
  const put = (path: string, value: unknown, isGiven: FreshObject["isGiven"]): void => {
    const members = membersOf(value);
    if (members === undefined) set[path] = value;
    else if (isJsonObject(valueAt(stored, path))) {
      for (const [key, inner] of members) {
        const innerPath = `${path}.${key}`;
        if (isGiven(innerPath)) put(innerPath, inner, isGiven);
      }
    } else {
      set[path] = value;
      conditions.push({ $nor: [{ [path]: { $type: "object", $not: { $type: "array" } } }] });
    }
  };
  for (const { path, isGiven } of objects) {
    if (!Object.hasOwn(set, path)) continue;
    const { [path]: value } = set;
    delete set[path];
    put(path, value, isGiven);
  }
  const { $set: _set, ...others } = update;
  return { update: Object.keys(set).length > 0 ? { ...others, $set: set } : others, conditions };
}

/** The members of an object or a Map that a path can name; `undefined` for any other value. */
function membersOf(value: unknown): [string, unknown][] | undefined {
  // The objects in a Map are still documents.
  const object = isDocument(value) ? storedValues(value) : value;
  const isMap = object instanceof Map;
  if (!isMap && !isJsonObject(object)) return undefined;
  const members: [string, unknown][] = isMap ? [...object] : Object.entries(object);
  return members.every(([key]) => key !== "" && !/^\$|\./.test(key)) ? members : undefined;
}
