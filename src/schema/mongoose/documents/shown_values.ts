import type { Schema, SchemaType } from "mongoose";
import { hasOwnCast } from "../schemas/field_rules.ts";
import { replacesMembers, typesWithin } from "../schemas/schema_members.ts";
import { hasOwnJson } from "./hide_in_json.ts";

const known = new WeakMap<Schema, boolean>();

/**
 * Whether the JSON of a schema's documents shows the values that they hold: no option, method or transform of the user's
 * makes something else of them. Looks at each schema once.
 */
export function showsValues(schema: Schema): boolean {
  let shows = known.get(schema);
  if (shows === undefined) known.set(schema, shows = hasUsualJson(schema));
  return shows;
}

function hasUsualJson(schema: Schema): boolean {
  return !hasOwnJson(schema) && !replacesMembers(schema) && schema.get("strict") !== false &&
    // Documents show objects made of dotted paths even where none is stored.
    Object.keys(schema.paths).every((path) => !path.includes(".") || path.includes("$*")) &&
    Object.values(schema.paths).flatMap(typesWithin).every(isShownAsStored);
}

/** Whether JSON shows what is stored of a type: neither the field nor all fields of its kind have a transform. */
function isShownAsStored(type: SchemaType): boolean {
  const { options, constructor } = type;
  const { defaultOptions } = constructor as { defaultOptions?: { transform?: unknown } };
  return !hasOwnCast(type) && (options as { transform?: unknown }).transform === undefined &&
    defaultOptions?.transform === undefined;
}
