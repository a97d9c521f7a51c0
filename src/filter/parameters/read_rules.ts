import type { Cursor } from "./cursor.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";

export const LIST_LIMITS = {
  keys: 8,
  /** The most entities before a page. */
  skipped: 2 ** 31 - 1,
  words: 10,
  /** The most characters of a search. */
  characters: 200,
} as const;

/** The media types of lists. */
export const MEDIA_TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  csv: "text/csv",
} as const;

/** The type of a list and what changes in it. */
export const EVENT_STREAM = "text/event-stream";

/** A format besides JSON. */
export type Format = Exclude<keyof typeof MEDIA_TYPES, "json">;

/** The parameters of a read besides `q`, as its operation declares them. */
export interface ReadRules {
  readonly page?: PageRule;
  readonly sort?: ReadonlySet<string>;
  readonly select?: ReadonlySet<string>;
  readonly search?: SearchRule;
  readonly populate?: ReadonlyMap<string, PopulateRule>;
  readonly count?: { readonly upTo: number; readonly always: boolean };
  readonly groups?: GroupRules;
  /** The formats besides JSON that the header `Accept` can ask for. */
  readonly formats?: readonly Format[];
  readonly live?: LiveRule;
}

export interface LiveRule {
  /** The most entities that a live list may have. */
  readonly max: number;
}

export interface PageRule {
  readonly size: number;
  readonly max: number;
  /** Whether the model declares a partial index, which `seek()` has to keep the database from. */
  readonly inOneScan: boolean;
}

/** The fields in which words are looked for, or the paths of the text index. */
export type SearchRule =
  | { readonly fields: readonly string[] }
  | { readonly index: readonly string[] };

export interface PopulateRule {
  readonly field: FieldShape;
  /** The fields that are shown besides `_id`; all if there is none. */
  readonly select?: readonly string[];
  /** Projects these fields; always the same object, since writers are kept by projection. */
  readonly projection: Readonly<Record<string, 1>>;
  readonly always: boolean;
}

/** The fields that clients may group by, and the figures that they may ask of each group. */
export interface GroupRules {
  /** The fields, with the part of a date that counts. */
  readonly by: ReadonlyMap<string, "year" | "month" | "day" | undefined>;
  readonly sum: ReadonlySet<string>;
  readonly avg: ReadonlySet<string>;
  readonly count: boolean;
  readonly max: number;
  readonly least: number;
}

/** An order: paths and directions, the most important first. */
export type Order = Readonly<Record<string, 1 | -1>>;

export interface ReadQuery {
  readonly page?: PageQuery;
  /** The order that is asked for; its last key is `_id`. */
  readonly order?: Order;
  /** The fields that are shown besides `_id`. */
  readonly select?: readonly string[];
  readonly search?: Readonly<Record<string, unknown>>;
  readonly populate?: ReadonlyMap<string, PopulateRule>;
  /** How the total is counted; it is not counted without it. */
  readonly count?: CountQuery;
  /** The format of the answer; JSON if there is none. */
  readonly format?: Format;
  /** The groups that are asked for in the place of entities. */
  readonly groups?: GroupsQuery;
}

export interface GroupsQuery {
  readonly by: readonly string[];
  readonly sum: readonly string[];
  readonly avg: readonly string[];
  /** By fields, `count`, `sum.price` or `avg.price`. */
  readonly order: Order;
  readonly rules: GroupRules;
}

export interface CountQuery {
  readonly upTo: number;
  /** Whether the header `Prefer` has asked for it. */
  readonly preferred: boolean;
}

export interface PageQuery {
  readonly limit: number;
  readonly skip: number;
  readonly after?: Cursor;
}
