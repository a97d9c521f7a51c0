import mongoose from "mongoose";
import { isCompiled } from "./q/compiled.ts";
import type { Filter } from "./q/compile_filter.ts";
import { isJsonObject } from "../schema/fields/json.ts";

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

/** Objects of hooks' filters whose operators may come from a request. */
const untrusted = new WeakSet<object>();

/** Marks an object of a hook's filter: its operators count as a host's own would, where `sanitizeFilter` is set. */
export function markUntrusted<T extends object>(operators: T): T {
  untrusted.add(operators);
  return operators;
}

/** Tells whether a key joins conditions. */
export function isClause(key: string): boolean {
  return key === "$and" || key === "$or" || key === "$nor";
}

/**
 * Copies a filter, as Mongoose casts in place and what hooks gave is not ours to change. The mark on the copies says
 * that their operators are meant, where the host has set `sanitizeFilter` for all queries; hooks' own have none.
 */
export function copyFilter(value: Filter): Filter {
  const copy = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(copy);
    if (!isJsonObject(each)) return each;
    if (isCompiled(each)) return mongoose.trusted(each);
    const copied = Object.fromEntries(
      Object.entries(each).map(([key, inner]) => [key, copy(inner)]),
    );
    return untrusted.has(each) ? markUntrusted(copied) : mongoose.trusted(copied);
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
      if (!isClause(key)) {
        throw new TypeError(`Cannot use the filter: "${key}" does not work inside a document`);
      }
      return [key, (value as Filter[]).map((each) => moveFilter(each, prefix))];
    }),
  );
}
