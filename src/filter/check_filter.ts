import {
  isConvertible,
  isKeptKey,
  isStorable,
  isTrusted,
  lossOf,
} from "../schema/mongoose/storable.ts";
import { isClause, isCompiled, markUntrusted } from "./filters.ts";
import type { Filter } from "./filters.ts";
import { isJsonObject } from "../schema/fields/json.ts";
import type { JsonObject } from "../schema/fields/json.ts";

const MOST_DEPTH = 100;

/**
 * Checks a filter that hooks or a scope gave: Mongoose and BSON drop or distort some values, and a condition that is
 * dropped shows everything. A scope is trusted; operators in a hook's filter may come from a request.
 *
 * @returns A copy, so that what was checked is what is used.
 * @throws {TypeError} If it is not an object, or anything in it would be lost; the message names the path.
 */
export function checkFilter(filter: unknown, what: "filter" | "scope"): Filter {
  if (!isJsonObject(filter)) throw new TypeError(`Cannot use the ${what}: it is not an object`);
  return checkObject(filter, { path: what, depth: 0, trusted: what === "scope" });
}

interface Spot {
  readonly path: string;
  readonly depth: number;
  readonly trusted: boolean;
}

function check(value: unknown, spot: Spot): unknown {
  const loss = lossOf(value);
  if (loss !== undefined) throw unusable(spot.path, loss);
  if (typeof value !== "object" || value === null || isCompiled(value)) return value;
  if (spot.depth > MOST_DEPTH) throw unusable(spot.path, "nested too deep");
  if (Array.isArray(value)) return checkList(value, spot);
  if (isJsonObject(value)) return checkObject(value, spot);
  if (isStorable(value) || isConvertible(value)) return value;
  throw unusable(spot.path, `an object of ${classOf(value)}, which is stored as {}`);
}

function checkList(list: readonly unknown[], spot: Spot): unknown[] {
  return Array.from({ length: list.length }, (_, index) => check(list[index], into(spot, index)));
}

function checkObject(object: JsonObject, spot: Spot): Filter {
  const copy: Filter = {};
  for (const key of Reflect.ownKeys(object)) {
    if (!isKeptKey(object, key)) throw unusable(into(spot, String(key)).path, "a key that is lost");
    if (typeof key === "symbol") continue;
    const inner = into(spot, key);
    const value = object[key];
    if (isClause(key) && Array.isArray(value) && value.length === 0) {
      throw unusable(inner.path, "an empty list");
    }
    // Mongoose sends a function here, and only here, as its text.
    const code = key === "$where" && typeof value === "function";
    Object.defineProperty(copy, key, {
      value: code ? String(value) : check(value, inner),
      enumerable: true,
      writable: true,
      configurable: true,
    });
  }
  return spot.trusted || isTrusted(object) ? copy : markUntrusted(copy);
}

function into({ path, depth, trusted }: Spot, key: string | number): Spot {
  return { path: `${path}.${key}`, depth: depth + 1, trusted };
}

function classOf(value: object): string {
  const { constructor } = value as { constructor?: { name?: unknown } };
  return `the class "${String(constructor?.name ?? "")}"`;
}

function unusable(path: string, loss: string): TypeError {
  return new TypeError(`Cannot use the filter: "${path}" is ${loss}`);
}
