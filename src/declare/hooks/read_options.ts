import type { FieldNames, IsKnown, TargetOf } from "../model/field_names.ts";

/** Options of a page. */
export interface PageOptions {
  /** How many entities a page has if the client does not ask for a number. The default is `max`. */
  readonly size?: number;
  /** The most entities that a client can ask for. A larger `limit` answers 400. */
  readonly max: number;
}

/** Options of the total of a list. */
export interface CountOptions {
  /** The most entities that are counted. The total of a longer list is not told. The default is `Infinity`. */
  readonly upTo?: number;
  /** Whether every answer tells the total. Otherwise, clients ask for it with the header `Prefer: count=exact`. */
  readonly always?: boolean;
}

/** How clients search. */
export type SearchOptions<N extends string = string> = readonly N[] | {
  /** Uses the text index of the collection. */
  readonly index: true;
};

/** Options of a reference that is replaced by its entity. */
export interface PopulateOptions<N extends string = string> {
  /** The fields of the entity that are shown, besides `_id`. The default is all of them. */
  readonly select?: readonly N[];
  /** Whether every answer shows the entity. Otherwise, clients ask for it. */
  readonly always?: boolean;
  /** Whether the entity is shown although its class has an `one()` with hooks, which do not run for it. */
  readonly unguarded?: boolean;
}

/** @internal The references that clients can replace by entities. */
export type PopulateFields<M> = IsKnown<M> extends false
  ? Readonly<Record<string, true | PopulateOptions>>
  : {
    readonly [K in FieldNames<"populate", M>]?:
      | true
      | PopulateOptions<FieldNames<"select", TargetOf<M, K>>>;
  };

/** A format of lists besides JSON: a JSON text on each line (`application/x-ndjson`), or a table (`text/csv`). */
export type ListFormat = "ndjson" | "csv";

/** Options of a live list. */
export interface LiveOptions {
  /** The most entities that the list may have. A longer one answers 409, and ends when it grows. The default is `10000`. */
  readonly max?: number;
}

/** A part of a date, in UTC: groups show `"2024"`, `"2024-03"` or `"2024-03-09"`. */
export type DateUnit = "year" | "month" | "day";

/** The fields that clients may group a list by, and the figures that they may ask of each group. */
export interface GroupsOptions<
  N extends string = string,
  D extends string = string,
  S extends string = string,
  A extends string = string,
> {
  /** The fields of `?group=`: no lists and no objects. Dates may be grouped by a part of them. */
  readonly by: readonly (N | { readonly [K in D]?: DateUnit })[];
  /** Whether each group tells how many entities it has. */
  readonly count?: boolean;
  /** The numbers of `?sum=`. */
  readonly sum?: readonly S[];
  /** The numbers of `?avg=`. */
  readonly avg?: readonly A[];
  /** The most groups of an answer. More are a 409. The default is `1000`. */
  readonly max?: number;
  /** The fewest entities of a group that is shown. The default is `1`. */
  readonly least?: number;
}

/**
 * The options of `all()` and `one()` that let clients page, sort, choose, search, populate, count, and read other formats.
 * Without an option, clients cannot ask for it.
 *
 * TypeScript checks the names of the fields against the class, and refuses those of `Hidden` fields.
 *
 * @example Let clients page, sort, choose fields, search and count
 * ```ts
 * import { all, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/movies",
 *   methods: [all({
 *     page: { size: 20, max: 100 },
 *     sort: ["year", "name"],
 *     select: ["name", "year"],
 *     search: ["name"],
 *     count: { upTo: 10_000 },
 *   })],
 * })
 * class Movie extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @prop({ type: Number })
 *   year?: number;
 * }
 * ```
 */
export interface ReadOptions<M = unknown> {
  /** Lists have pages, which clients choose with `?limit=`, and `?after=` or `?skip=`. Only for `all()`. */
  readonly page?: PageOptions | undefined;
  /** The fields by which clients can sort, such as `?sort=-year,name`: no lists and no objects. Only for `all()`. */
  readonly sort?: readonly FieldNames<"sort", M>[] | undefined;
  /** The fields that clients can choose, such as `?select=name,year`. */
  readonly select?: readonly FieldNames<"select", M>[] | undefined;
  /** The string fields in which `?search=` looks for words. Only for `all()`. */
  readonly search?: SearchOptions<FieldNames<"search", M>> | undefined;
  /** The references that clients can replace by entities, such as `?populate=actors`; `null` where one is not there. */
  readonly populate?: PopulateFields<M> | undefined;
  /** Lists tell their total. Only for `all()`. */
  readonly count?: true | CountOptions | undefined;
  /**
   * Clients that send `Accept: text/event-stream` get the list, and then what changes in it. Needs a replica set. Only for
   * `all()`.
   */
  readonly live?: true | LiveOptions | undefined;
  /** The formats besides JSON that clients can ask for with the header `Accept`. Only for `all()`. */
  readonly formats?: readonly ListFormat[] | undefined;
  /** Lists answer groups of their entities, such as `?group=state&sum=price`. Only for `all()`, without hooks on entities. */
  readonly groups?:
    | GroupsOptions<
      FieldNames<"group", M>,
      FieldNames<"unit", M>,
      FieldNames<"sum", M>,
      FieldNames<"avg", M>
    >
    | undefined;
}
