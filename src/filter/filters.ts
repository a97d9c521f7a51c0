import mongoose from "mongoose";
import { isDeepStrictEqual } from "node:util";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import type { Version } from "../schema/fields/system_fields.ts";

export type Filter = Record<string, unknown>;

/**
 * Query options that switch off the Mongoose setting `strictQuery` of the application. With `strictQuery: true`,
 * Mongoose would drop conditions on undeclared fields, and a query would select more entities.
 */
export const KEEP_CONDITIONS = { strictQuery: false } as const;

export function isEmpty(filter: Filter): boolean {
  return Object.keys(filter).length === 0;
}

/**
 * Joins filters by `$and`, so that all of them apply even if they share keys. Empty filters are dropped. The result is
 * a copy, because Mongoose casts a filter in place.
 */
export function everyFilter(...filters: (Filter | undefined)[]): Filter {
  const [first, ...others] = filters.filter((filter) => filter !== undefined && !isEmpty(filter));
  if (first === undefined) return {};
  return copyFilter(others.length === 0 ? first : { $and: [first, ...others] });
}

const untrusted = new WeakSet<object>();

/**
 * Marks operators in a filter that may come from a request. The Mongoose option `sanitizeFilter` then refuses only
 * these operators, and operators of the framework still work.
 */
export function markUntrusted<T extends object>(operators: T): T {
  untrusted.add(operators);
  return operators;
}

export function isClause(key: string): boolean {
  return key === "$and" || key === "$or" || key === "$nor";
}

/**
 * Copies a filter, because Mongoose casts a filter in place. `sanitizeFilter` leaves the copy unchanged, except for
 * operators that are marked as untrusted.
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
 * Converts a filter for an embedded object to a filter for the document that embeds the object, by a prefix before each
 * path. Throws for an operator such as `$expr`, which always applies to the whole document.
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

/**
 * The operators that `find()` takes, but not the `$match` stage of an aggregation that counts. Entities are counted
 * with `find()` if a filter has such an operator.
 */
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

/**
 * Marks operators of a client's filter as compiled. The values of compiled operators are cast already. Mongoose must
 * not cast them again, because it allows fewer operators for a type than MongoDB.
 */
export function markCompiled<T extends object>(operators: T): T {
  compiled.add(operators);
  return operators;
}

/**
 * Copies a filter and replaces some of its operators, such as a condition on the entities of a reference by their
 * identifiers. A copy is marked as compiled or untrusted like the original, so that Mongoose neither casts operators of
 * a client again nor trusts them.
 */
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

/**
 * Marks all conditions of a filter as compiled, so that Mongoose does not cast them again, because their values have
 * the types of the fields. A plain value becomes an operator, because only operators can be marked.
 */
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

/**
 * Returns the condition that a document has one of the given versions, so that a write misses a document that another
 * request has changed. The version `null` matches a document that stores no version.
 */
export function hasOneOf(key: string, versions: readonly Version[]): Filter {
  return { [key]: markCompiled({ $in: [...versions] }) };
}

/**
 * Returns the top-level fields that a filter reads. Returns `undefined` if an operator, such as `$expr`, may read any
 * field, so that a change of any field may change the result of the filter.
 */
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

/**
 * Copies the conditions of the client. Returns a function that removes these conditions from a filter, so that only the
 * conditions of hooks remain. Reads of entities that the client does not select, such as the entity of a cursor, need
 * the conditions of hooks, because these hide entities from the client.
 */
export function hookConditionsIn(client: Filter): (filter: Filter) => Filter {
  // Mongoose marks trusted conditions in place. The copy has no such marks, because a mark must not count as a change
  // by a hook.
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
