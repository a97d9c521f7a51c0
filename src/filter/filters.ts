import mongoose from "mongoose";
import { isDeepStrictEqual } from "node:util";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

export type Filter = Record<string, unknown>;

/** With `strictQuery: true`, Mongoose would drop conditions on undeclared fields, and find too much. */
export const KEEP_CONDITIONS = { strictQuery: false } as const;

export function isEmpty(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}

/** Returns a copy, because Mongoose casts a filter in place. */
export function everyFilter(...filters: (Filter | undefined)[]): Filter {
  const [first, ...others] = filters.filter((filter) => filter !== undefined && !isEmpty(filter));
  if (first === undefined) return {};
  return copyFilter(others.length === 0 ? first : { $and: [first, ...others] });
}

const untrusted = new WeakSet<object>();

/** Marks operators that may come from a request. `sanitizeFilter` of Mongoose trusts all others. */
export function markUntrusted<T extends object>(operators: T): T {
  untrusted.add(operators);
  return operators;
}

export function isClause(key: string): boolean {
  return key === "$and" || key === "$or" || key === "$nor";
}

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
 * Makes a filter for an embedded object apply to its document. `$expr` is refused, because it would read the whole
 * document.
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

/** `find()` takes these operators, but the `$match` of an aggregation that counts does not. */
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

export function markCompiled<T extends object>(operators: T): T {
  compiled.add(operators);
  return operators;
}

/** The copy keeps the marks, or else Mongoose would cast a client's operators again, or trust them. */
export function replaceOperators(
  filter: Filter,
  replace: (operators: Readonly<Filter>) => Filter | undefined,
): Filter {
  const copy = (each: unknown): unknown => {
    if (Array.isArray(each)) return each.map(copy);
    if (!isJsonObject(each)) return each;
    const copied = replace(each) ??
      Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, copy(inner)]));
    if (isCompiled(each)) markCompiled(copied);
    if (untrusted.has(each)) markUntrusted(copied);
    return copied;
  };
  return copy(filter) as Filter;
}

/** A plain value becomes `{ $eq: value }`, because only an object can be marked as cast. */
export function markConditions(filter: Filter): Filter {
  return Object.fromEntries(
    Object.entries(filter).map(([key, value]) =>
      key === "$or" || key === "$and"
        ? [key, (value as readonly Filter[]).map(markConditions)]
        : [key, markCompiled(isJsonObject(value) ? value : { $eq: value })]
    ),
  );
}

export function isCompiled(condition: unknown): boolean {
  return typeof condition === "object" && condition !== null && compiled.has(condition);
}

/** A write with this condition misses a document whose version has changed. `null` matches one without a version. */
export function hasOneOf(key: string, versions: readonly Version[]): Filter {
  return { [key]: markCompiled({ $in: [...versions] }) };
}

/** Returns `undefined` if an operator such as `$expr` may read any field. */
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

/** Conditions that hooks add hide entities, so reads that ignore the client's filter still need them. */
export function hookConditionsIn(client: Filter): (filter: Filter) => Filter {
  // Mongoose marks trusted conditions in place. The copy keeps such a mark from counting as a change by a hook.
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
