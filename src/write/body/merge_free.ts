import { isDeepStrictEqual } from "node:util";
import { isJsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { castFree, checkKey, deeper } from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";

/**
 * Merges a patch into free-form data as RFC 7396 says, and gives the result, a copy. A key that is cleared stays with
 * `undefined`, so that a document knows what to remove.
 *
 * @param changed Takes the paths that have changed.
 */
export function mergeFree(
  current: Readonly<Record<string, unknown>>,
  patch: JsonObject,
  cast: Cast,
  changed: string[],
): Record<string, unknown> {
  const result = { ...current };
  const before = changed.length;
  for (const [key, value] of Object.entries(patch)) {
    if (PROTOTYPE_KEYS.has(key)) continue;
    checkKey(key, cast);
    const inner = deeper(cast, key);
    const own = Object.hasOwn(result, key) ? result[key] : undefined;
    if (isJsonObject(value) && isJsonObject(own)) {
      result[key] = mergeFree(own, value, inner, changed);
      continue;
    }
    const next = value === null ? undefined : castFree(value, inner);
    if (isDeepStrictEqual(own, next)) continue;
    result[key] = next;
    changed.push(inner.path);
  }
  // Mongoose reads no path through an object with such a key.
  if (changed.length > before && Object.hasOwn(result, "_doc")) changed.push(cast.path);
  return result;
}
