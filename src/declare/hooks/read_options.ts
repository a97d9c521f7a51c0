import type { FieldNames, IsKnown, TargetOf } from "../model/field_names.ts";

/** Options of the pages of a list, which limit the number of entities in one answer. */
export interface PageOptions {
  /** The number of entities of a page for a request without `limit`. The default is `max`. */
  readonly size?: number;
  /** The largest `limit` that clients may send. A larger `limit` answers 400. */
  readonly max: number;
}

/**
 * Options of the total, which is the number of entities on all pages of a list. The options limit the work of the
 * database for this number.
 */
export interface CountOptions {
  /**
   * The number of entities at which the database stops counting. For a longer list, the answer has no total. The
   * default is `Infinity`.
   */
  readonly upTo?: number;
  /** Whether every answer has the total. Otherwise, clients ask for the total with the header `Prefer: count=exact`. */
  readonly always?: boolean;
}

/** The fields in which clients search, or the use of a text index. */
export type SearchOptions<N extends string = string> = readonly N[] | {
  /** Uses the text index of the collection to search. */
  readonly index: true;
};

/** Options of a reference that an answer can replace by the entity. */
export interface PopulateOptions<N extends string = string> {
  /** The fields of the entity that answers show besides `_id`. The default is all fields that clients see. */
  readonly select?: readonly N[];
  /** Whether every answer shows the entity. Otherwise, clients ask for the entity with `?populate=`. */
  readonly always?: boolean;
  /**
   * Whether every client may see the entities, although the `one()` of their class has hooks. The hooks do not run for
   * entities in the place of references. Without `unguarded: true`, such a class is an error at start-up.
   */
  readonly unguarded?: boolean;
}

/** @internal The type of the option `populate`. If the model is known, only the names of references are accepted. */
export type PopulateFields<M> = IsKnown<M> extends false
  ? Readonly<Record<string, true | PopulateOptions>>
  : {
    readonly [K in FieldNames<"populate", M>]?:
      | true
      | PopulateOptions<FieldNames<"select", TargetOf<M, K>>>;
  };

/**
 * A format of lists besides JSON. `"ndjson"` is one JSON text on each line (`application/x-ndjson`), and `"csv"` is a
 * table (`text/csv`).
 */
export type ListFormat = "ndjson" | "csv";

/** Options of a live list, which stays open and sends events about later changes. */
export interface LiveOptions {
  /**
   * The most entities that the list may have. A longer list answers 409, and the stream ends when the list grows beyond
   * this number. The default is `10000`.
   */
  readonly max?: number;
}

/** A part of a date in UTC, by which clients group a list. Groups show `"2024"`, `"2024-03"` or `"2024-03-09"`. */
export type DateUnit = "year" | "month" | "day";

/** The fields that clients may group a list by, and the figures that each group can have. */
export interface GroupsOptions<
  N extends string = string,
  D extends string = string,
  S extends string = string,
  A extends string = string,
> {
  /**
   * The fields that `?group=` may name, which hold no lists and no objects. `{ createdAt: "month" }` groups dates by a
   * part.
   */
  readonly by: readonly (N | { readonly [K in D]?: DateUnit })[];
  /** Whether each group shows the number of its entities. */
  readonly count?: boolean;
  /** The number fields that `?sum=` may name. */
  readonly sum?: readonly S[];
  /** The number fields that `?avg=` may name. */
  readonly avg?: readonly A[];
  /** The most groups of an answer. A list with more groups answers 409. The default is `1000`. */
  readonly max?: number;
  /** The fewest entities of a group. Answers leave out smaller groups. The default is `1`. */
  readonly least?: number;
}

/**
 * The options of `all()` and `one()` that let clients page, sort, choose fields, search, populate, count, and read
 * other formats. Clients can use a feature only if its option is set.
 *
 * TypeScript checks the names of fields against the class, and refuses the names of `Hidden` fields.
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
  /** The pages of a list, which clients choose with `?limit=`, and `?after=` or `?skip=`. Only for `all()`. */
  readonly page?: PageOptions | undefined;
  /**
   * The fields by which clients can sort, such as `?sort=-year,name`. The fields hold no lists and no objects. Only for
   * `all()`.
   */
  readonly sort?: readonly FieldNames<"sort", M>[] | undefined;
  /** The fields that clients can choose, such as `?select=name,year`. */
  readonly select?: readonly FieldNames<"select", M>[] | undefined;
  /** The string fields in which `?search=` looks for words, or the use of a text index. Only for `all()`. */
  readonly search?: SearchOptions<FieldNames<"search", M>> | undefined;
  /**
   * The references that clients can replace by entities, such as `?populate=actors`. A reference to a missing entity
   * becomes `null`, and a list leaves the entity out.
   */
  readonly populate?: PopulateFields<M> | undefined;
  /** The total of a list, which answers show in headers. Only for `all()`. */
  readonly count?: true | CountOptions | undefined;
  /**
   * Whether clients can follow a list. A client that sends `Accept: text/event-stream` gets the list, and events about
   * later changes in the list. Needs a replica set. Only for `all()`.
   */
  readonly live?: true | LiveOptions | undefined;
  /** The formats besides JSON that clients can ask for with the header `Accept`. Only for `all()`. */
  readonly formats?: readonly ListFormat[] | undefined;
  /**
   * The groups of entities that clients can ask for, such as `?group=state&sum=price`. Only for `all()`, without hooks
   * on entities.
   */
  readonly groups?:
    | GroupsOptions<
      FieldNames<"group", M>,
      FieldNames<"unit", M>,
      FieldNames<"sum", M>,
      FieldNames<"avg", M>
    >
    | undefined;
}
