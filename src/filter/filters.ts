import mongoose from "mongoose";
import { isDeepStrictEqual } from "node:util";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

export type Filter = Record<string, unknown>;

/** Query options that keep the host's settings from dropping a condition. */
export const KEEP_CONDITIONS = { strictQuery: false } as const;

export function isEmpty(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}

/** Joins filters so that all of them apply, even if they share keys. Empty ones are left out. */
export function everyFilter(...filters: (Filter | undefined)[]): Filter {
  const [first, ...others] = filters.filter((filter) => filter !== undefined && !isEmpty(filter));
  if (first === undefined) return {};
  return copyFilter(others.length === 0 ? first : { $and: [first, ...others] });
}

const untrusted = new WeakSet<object>();

/** Marks operators of a hook's filter that may come from a request: `sanitizeFilter` applies to them. */
export function markUntrusted<T extends object>(operators: T): T {
  untrusted.add(operators);
  return operators;
}

export function isClause(key: string): boolean {
  return key === "$and" || key === "$or" || key === "$nor";
}

/** Copies a filter: Mongoose casts in place. `sanitizeFilter` trusts the copy, but for operators of a request. */
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

/** Moves a filter on an object to where the object stands inside another. */
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

/** Operators that a query takes, and the stage of an aggregation that counts does not. */
export const UNCOUNTABLE: ReadonlySet<string> = new Set(["$near", "$nearSphere", "$where"]);

export function isCountable(filter: unknown): boolean {
  return isFreeOf(filter, UNCOUNTABLE);
}

export function isFreeOf(filter: unknown, operators: ReadonlySet<string>): boolean {
  if (Array.isArray(filter)) return filter.every((each) => isFreeOf(each, operators));
  return !isJsonObject(filter) ||
    Object.entries(filter).every(([key, value]) =>
      !operators.has(key) && isFreeOf(value, operators)
    );
}

const compiled = new WeakSet<object>();

/** Marks operators of a client's filter: their values are cast, and must not be cast again. */
export function markCompiled<T extends object>(operators: T): T {
  compiled.add(operators);
  return operators;
}

export function isCompiled(condition: unknown): boolean {
  return typeof condition === "object" && condition !== null && compiled.has(condition);
}

/** The condition that a document has one of some versions; `null` stands for none. */
export function hasOneOf(key: string, versions: readonly Version[]): Filter {
  return { [key]: markCompiled({ $in: [...versions] }) };
}

/** The top-level fields that a filter reads; `undefined` where it may read all of them, as `$expr` does. */
export function fieldsRead(filter: Filter): ReadonlySet<string> | undefined {
  const fields = new Set<string>();
  const collect = (each: Filter): boolean =>
    Object.entries(each).every(([key, value]) => {
      if (!key.startsWith("$")) return fields.add(topOf(key));
      return isClause(key) && Array.isArray(value) && value.every(collect);
    });
  return collect(filter) ? fields : undefined;
}

export function topOf(path: string): string {
  const end = path.indexOf(".");
  return end < 0 ? path : path.slice(0, end);
}

/** Remembers the conditions of a client. The function tells what hooks have added to them, or changed. */
export function hookConditionsIn(client: Filter): (filter: Filter) => Filter {
  // A copy has none of the marks that Mongoose puts on conditions, which are no changes.
  const before = copyJson(client) as Filter;
  const isClients = ([key, value]: [string, unknown]) =>
    typeof value === "object" && value === client[key] &&
    isDeepStrictEqual(copyJson(value), before[key]);
  const added = (filter: Filter): Filter => {
    const entries = Object.entries(filter).filter((each) => !isClients(each));
    const inner = (each: unknown) => isJsonObject(each) ? added(each) : each;
    return Object.fromEntries(entries.map(([key, value]) => {
      return [key, key === "$and" && Array.isArray(value) ? value.map(inner) : value];
    }));
  };
  return added;
}
