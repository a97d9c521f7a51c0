import { isJsonObject } from "../schema/fields/json.ts";
import { isStorable, lossOf, storedMembers } from "../schema/mongoose/storable.ts";
import { copyFilter } from "./filters.ts";
import type { Filter } from "./filters.ts";
import { isCompiled } from "./q/compiled.ts";

/**
 * Casts conditions that hooks gave. A cast converts values: where it drops a condition or adds to it, the filter would
 * select something else.
 *
 * @throws {TypeError} If anything is lost or added; the message names the path.
 */
export function castWhole(conditions: Filter, cast: (conditions: Filter) => Filter): Filter {
  // The cast changes its argument.
  const given = copyFilter(conditions);
  const result = cast(conditions);
  for (const [path, value] of Object.entries(given)) {
    if (!Object.hasOwn(result, path)) throw changed(path, "Mongoose drops it");
    compare({ path, given: value, result: result[path] });
  }
  return result;
}

interface Cast<T> {
  readonly path: string;
  readonly given: T;
  readonly result: unknown;
}

function compare({ path, given, result }: Cast<unknown>): void {
  if (isCompiled(given)) return;
  if (isJsonObject(given)) return compareObjects({ path, given, result });
  if (Array.isArray(given)) return compareLists({ path, given, result });
  if (storedMembers(result) !== undefined && storedMembers(given) === undefined) {
    throw changed(path, "Mongoose makes an object of it");
  }
  checkSent(result, path);
}

function compareObjects({ path, given, result }: Cast<object>): void {
  const members = storedMembers(result);
  // An object that has an identifier is cast to it.
  if (members === undefined) return checkSent(result, path);
  const keys = Object.keys(given);
  const added = [...members.keys()].filter((key) => !Object.hasOwn(given, key));
  const dropped = keys.filter((key) => !members.has(key));
  if (added.length > 0) throw changed(path, `Mongoose adds "${added.join(`", "`)}" to the object`);
  if (dropped.length > 0) throw changed(path, `Mongoose drops "${dropped.join(`", "`)}" of it`);
  for (const [key, value] of Object.entries(given)) {
    compare({ path: `${path}.${key}`, given: value, result: members.get(key) });
  }
}

function compareLists({ path, given, result }: Cast<readonly unknown[]>): void {
  const list = Array.isArray(result) ? result : (result as { $in?: unknown } | null)?.$in;
  if (!Array.isArray(list)) return checkSent(result, path);
  if (list.length !== given.length) throw changed(path, "Mongoose changes the length of the list");
  given.forEach((each, index) =>
    compare({ path: `${path}.${index}`, given: each, result: list[index] })
  );
}

/** Checks what the driver would get. */
function checkSent(value: unknown, path: string): void {
  const loss = lossOf(value);
  if (loss !== undefined) throw changed(path, `it is ${loss}`);
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    return value.forEach((each, index) => checkSent(each, `${path}.${index}`));
  }
  if (isStorable(value) || isJsonObject(value)) return;
  const { toBSON } = value as { toBSON?: () => unknown };
  if (typeof toBSON !== "function") throw changed(path, "BSON does not know its class");
  checkSent(toBSON.call(value), path);
}

function changed(path: string, reason: string): TypeError {
  return new TypeError(`Cannot use the filter: "${path}" cannot be sent as it is: ${reason}`);
}
