import { badData } from "../errors/bad_data.ts";
import { isJsonObject, PROTOTYPE_KEYS } from "../query/json.ts";
import type { JsonObject } from "../query/json.ts";
import type { FieldShape, Shape } from "../shape/shape.ts";
import { castField, checkKey, deeper, writableEntries } from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";

type Plain = Record<string, unknown>;

/**
 * Merges a body into a copy of a plain entity, one of another database: the same rules as for documents, without the
 * mapper.
 *
 * @throws {RestError} 400 that names every field whose value cannot be cast.
 */
export function mergePlain(entity: object, body: JsonObject, shape: Shape): Plain {
  const cast: Cast = { path: "", depth: 0, problems: {} };
  const result = mergeFields(entity as Plain, body, shape, cast);
  if (Object.keys(cast.problems).length > 0) throw badData(cast.problems);
  return result;
}

function mergeFields(entity: Plain, patch: JsonObject, shape: Shape, cast: Cast): Plain {
  const result = Object.assign(Object.create(Object.getPrototypeOf(entity)), entity);
  for (const [key, value] of writableEntries(patch, shape, cast)) {
    const field = shape.fields.get(key) as FieldShape;
    if (value === null && field.kind === "array") result[key] = [];
    else if (value === null) delete result[key];
    else result[key] = mergeField(result[key], value, field, deeper(cast, key));
  }
  return result;
}

function mergeField(current: unknown, value: unknown, field: FieldShape, cast: Cast): unknown {
  if (isJsonObject(value) && isJsonObject(current)) {
    if (field.kind === "object") return mergeFields(current, value, field.shape as Shape, cast);
    if (field.kind === "free" || field.kind === "map") {
      return mergeKeys(current, value, field, cast);
    }
  }
  return castField(value, field, cast);
}

/** RFC 7396 inside a free-form field or a map. */
function mergeKeys(current: Plain, patch: JsonObject, field: FieldShape, cast: Cast): Plain {
  const result = { ...current };
  for (const [key, value] of Object.entries(patch)) {
    if (PROTOTYPE_KEYS.has(key)) continue;
    checkKey(key, cast);
    if (value === null) delete result[key];
    else result[key] = mergeField(result[key], value, field.element ?? field, deeper(cast, key));
  }
  return result;
}
