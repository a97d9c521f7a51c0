import mongoose from "mongoose";
import { isCompiled } from "../query/compiled.ts";
import type { Filter } from "../query/compile_filter.ts";
import { isJsonObject } from "../query/json.ts";

/**
 * Checks a filter that hooks or a scope gave: the mapper drops what is undefined, and a condition that is dropped shows
 * everything.
 *
 * @throws {TypeError} If it is no object, or anything in it is undefined.
 */
export function checkFilter(filter: unknown, what: string): Filter {
  if (!isJsonObject(filter)) throw new TypeError(`Cannot use the ${what}: it is no object`);
  refuseUndefined(filter, what, 0);
  return filter as Filter;
}

function refuseUndefined(value: unknown, path: string, depth: number): void {
  if (value === undefined) throw new TypeError(`Cannot use the filter: "${path}" is undefined`);
  if (depth > 100) throw new TypeError(`Cannot use the filter: "${path}" is nested too deep`);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      refuseUndefined(value[index], `${path}.${index}`, depth + 1);
    }
  } else if (isJsonObject(value)) {
    for (const [key, each] of Object.entries(value)) {
      refuseUndefined(each, `${path}.${key}`, depth + 1);
    }
  }
}

/**
 * Checks a projection that hooks gave: on a field that is neither shown nor left out, the mapper's cursor would fail where
 * nobody can catch it.
 *
 * @throws {TypeError} If a value in it is `null` or `undefined`.
 */
export function checkProjection<P>(projection: P): P {
  for (const [path, value] of Object.entries(projection ?? {})) {
    if (value === null || value === undefined) {
      throw new TypeError(`Cannot use the projection: "${path}" is ${value}`);
    }
  }
  return projection;
}

/** Query options that keep the host's settings from dropping a condition. */
export const KEEP_CONDITIONS = { strictQuery: false } as const;

/** Tells whether a filter selects everything. */
export function isEmpty(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}

/** Joins filters so that each one binds, whatever keys they share. Empty ones are left out. */
export function everyFilter(...filters: Filter[]): Filter {
  const [first, ...others] = filters.filter((filter) => !isEmpty(filter));
  if (first === undefined) return {};
  return copyFilter(others.length === 0 ? first : { $and: [first, ...others] });
}

/**
 * Copies a filter, as the mapper casts in place and what hooks gave is not ours to change. The mark on the copies says
 * that their operators are meant, where the host has set `sanitizeFilter` for all queries.
 */
export function copyFilter(value: Filter): Filter {
  const copy = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(copy);
    if (!isJsonObject(each)) return each;
    if (isCompiled(each)) return mongoose.trusted(each);
    return mongoose.trusted(
      Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, copy(inner)])),
    );
  };
  return copy(value) as Filter;
}

/**
 * Moves a filter on an object to where the object stands inside another.
 *
 * @throws {TypeError} If it has an operator that speaks of a whole document.
 */
export function moveFilter(filter: Filter, prefix: string): Filter {
  return Object.fromEntries(
    Object.entries(filter).map(([key, value]) => {
      if (!key.startsWith("$")) return [`${prefix}.${key}`, value];
      if (!["$and", "$or", "$nor"].includes(key)) {
        throw new TypeError(`Cannot use the filter: "${key}" does not work inside a document`);
      }
      return [key, (value as Filter[]).map((each) => moveFilter(each, prefix))];
    }),
  );
}
