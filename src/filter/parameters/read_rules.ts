import { type FieldShape, referenceIn, type Shape } from "../../schema/fields/shape.ts";
import { isHiddenPath } from "../../schema/fields/visibility.ts";
import { projectionOf } from "../projection.ts";
import type { Cursor } from "./cursor.ts";

export const LIST_LIMITS = {
  keys: 8,
  skipped: 2 ** 31 - 1,
  words: 10,
  characters: 200,
} as const;

export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
} as const;

export const EVENT_STREAM = "text/event-stream";

export type Format = Exclude<keyof typeof MEDIA_TYPES, "json">;

/**
 * The parameters of a read that its operation declares, except `q`. A request with another parameter of the framework
 * is refused, unless the application declares a parameter with this name.
 */
export interface ReadRules {
  readonly page?: PageRule;
  readonly sort?: ReadonlySet<string>;
  readonly select?: ReadonlySet<string>;
  readonly search?: SearchRule;
  readonly populate?: ReadonlyMap<string, PopulateRule>;
  readonly count?: { readonly upTo: number; readonly always: boolean };
  readonly groups?: GroupRules;
  readonly formats?: readonly Format[];
  readonly live?: LiveRule;
}

export interface LiveRule {
  readonly max: number;
}

export interface PageRule {
  readonly size: number;
  readonly max: number;
  /**
   * Whether the model declares a partial index. Pages of such a model are read with `seekInOneScan()`. With `seek()`,
   * MongoDB 6.0 may use the partial index, and the page would miss entities that are not in this index.
   */
  readonly inOneScan: boolean;
}

/** The fields whose text is searched, or the paths of the text index in which MongoDB searches. */
export type SearchRule =
  | { readonly fields: readonly string[] }
  | { readonly index: readonly string[] };

export interface PopulateRule {
  readonly field: FieldShape;
  /** The fields of the referenced entity that are shown in addition to `_id`. By default, all fields are shown. */
  readonly select?: readonly string[];
  /**
   * The projection of the fields in `select`. Every request uses the same object, because JSON writers are cached by
   * their projection object.
   */
  readonly projection: Readonly<Record<string, 1>>;
  readonly always: boolean;
}

/**
 * The fields by which clients may group, and the aggregates that clients may request for each group. A request for any
 * other group is refused.
 */
export interface GroupRules {
  /** The fields by which clients may group, each with the unit to which its dates are truncated. */
  readonly by: ReadonlyMap<string, "year" | "month" | "day" | undefined>;
  readonly sum: ReadonlySet<string>;
  readonly avg: ReadonlySet<string>;
  readonly count: boolean;
  readonly max: number;
  readonly least: number;
}

/** A sort order. The keys are paths, the most important first, and the values are directions. */
export type Order = Readonly<Record<string, 1 | -1>>;

export interface ReadQuery {
  readonly page?: PageQuery;
  /**
   * The order that the client requests. The last key of the order is `_id`, so that no two entities are equal in the
   * order.
   */
  readonly order?: Order;
  readonly select?: readonly string[];
  readonly search?: Readonly<Record<string, unknown>>;
  readonly populate?: ReadonlyMap<string, PopulateRule>;
  readonly count?: { readonly upTo: number; readonly preferred: boolean };
  readonly format?: Format;
  readonly groups?: GroupsQuery;
}

export interface GroupsQuery {
  readonly by: readonly string[];
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  /** The order of the groups. The keys are grouped fields, `count`, `sum.price` or `avg.price`. */
  readonly order: Order;
  readonly rules: GroupRules;
}

export interface PageQuery {
  readonly limit: number;
  readonly skip: number;
  readonly after?: Cursor;
}

/** Returns the query string of a URL without the question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}

/**
 * Returns the rules of a read for a reader who sees only a part of the declared fields. Parameters refuse the names of
 * hidden fields in the same way as undeclared names, so that an error does not reveal a hidden field.
 */
export function narrowReads(rules: ReadRules, shape: Shape): ReadRules {
  const seen = (names: Iterable<string> = []) =>
    new Set([...names].filter((name) => isSeen(name, shape)));
  const { sort, select, search, populate, groups, ...others } = rules;
  const sorted = seen(sort);
  const selected = seen(select);
  const populated = [...populate ?? []].filter(([name]) => isSeen(name, shape));
  const searched = search && narrowSearch(search, shape);
  return {
    ...others,
    ...sorted.size > 0 && { sort: sorted },
    ...selected.size > 0 && { select: selected },
    ...populated.length > 0 && {
      populate: new Map(populated.map(([name, rule]) => {
        return [name, narrowPopulate(rule, shape.fields.get(name))];
      })),
    },
    ...searched && { search: searched },
    // `groups` remains even if the reader sees none of its fields. `declaredNames()` leaves out a parameter without
    // fields, so a request with this parameter is refused.
    ...groups && {
      groups: {
        ...groups,
        by: new Map([...groups.by].filter(([name]) => isSeen(name, shape))),
        sum: seen(groups.sum),
        avg: seen(groups.avg),
      },
    },
  };
}

function isSeen(name: string, shape: Shape): boolean {
  return shape.fields.get(name)?.hidden === false;
}

function narrowPopulate(rule: PopulateRule, field = rule.field): PopulateRule {
  const target = referenceIn(field)?.populated;
  if (rule.select === undefined || target === undefined) return { ...rule, field };
  const select = rule.select.filter((name) => name === "_id" || isSeen(name, target));
  return { ...rule, field, select, projection: projectionOf(select) };
}

/**
 * Returns the search for a reader, or `undefined` if the reader must not search. A search in a text index is allowed
 * only if the reader sees every indexed field, because a match would reveal a word of a hidden field.
 */
function narrowSearch(search: SearchRule, shape: Shape): SearchRule | undefined {
  if ("index" in search) return seesAll(search.index, shape) ? search : undefined;
  const fields = search.fields.filter((name) => isSeen(name, shape));
  return fields.length > 0 ? { fields } : undefined;
}

function seesAll(paths: readonly string[], shape: Shape): boolean {
  return paths.every((path) => path === "$**" ? !shape.secretive : !isHiddenPath(path, shape));
}
