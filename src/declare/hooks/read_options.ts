import type { FieldNames, IsKnown, TargetOf } from "../model/field_names.ts";
import type { GroupsOptions } from "./groups_options.ts";
import type { LiveOptions } from "./live_options.ts";

/** Options of a page. */
export interface PageOptions {
  /**
   * How many entities a page has if the client does not ask for a number.
   *
   * @default {max}
   */
  readonly size?: number;
  /** The most entities that a client can ask for. A larger `limit` answers 400. */
  readonly max: number;
}

/** Options of the total of a list. */
export interface CountOptions {
  /**
   * The most entities that are counted. The total of a longer list is not told.
   *
   * @default {Infinity}
   */
  readonly upTo?: number;
  /**
   * Whether every answer tells the total. Otherwise, clients ask for it with the header `Prefer: count=exact`.
   *
   * @default {false}
   */
  readonly always?: boolean;
}

/**
 * How clients search.
 *
 * @typeParam N The names of the string fields.
 */
export type SearchOptions<N extends string = string> = readonly N[] | {
  /** Uses the text index of the collection. */
  readonly index: true;
};

/**
 * Options of a reference that is replaced by its entity.
 *
 * @typeParam N The names of the fields of that entity.
 */
export interface PopulateOptions<N extends string = string> {
  /**
   * The fields of the entity that are shown, besides `_id`.
   *
   * @default {all}
   */
  readonly select?: readonly N[];
  /**
   * Whether every answer shows the entity. Otherwise, clients ask for it.
   *
   * @default {false}
   */
  readonly always?: boolean;
  /**
   * Whether the entity is shown although its class has an `one()` with hooks, which do not run for it.
   *
   * @default {false}
   */
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

/**
 * The options of `all()` and `one()` that let clients page, sort, choose, search, populate, count, and read other formats.
 * Without an option, clients cannot ask for it.
 *
 * TypeScript checks the names of the fields against the class, and refuses those of `Hidden` fields.
 *
 * @typeParam M The model, if it is known.
 *
 * @example Let clients page, sort, choose fields, search and replace references
 * ```ts
 * import { all, arrayProp, FrameworkModel, type Hidden, prop, type Ref, rest } from "@mongrove/mongrove";
 *
 * class Actor extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @prop({ hidden: true })
 *   phone?: Hidden<string>;
 * }
 *
 * @rest({
 *   route: "/movies",
 *   methods: [all({
 *     page: { size: 20, max: 100 },
 *     sort: ["year", "name"],
 *     select: ["name", "year", "actors"],
 *     search: ["name"],
 *     populate: { actors: { select: ["name"] } },
 *     count: { upTo: 10_000 },
 *   })],
 * })
 * class Movie extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @prop({ type: Number })
 *   year?: number;
 *   @arrayProp({ items: Actor })
 *   actors?: Ref<Actor>[];
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
  /**
   * The references that clients can replace by entities, such as `?populate=actors`. An entity that is gone, or outside of
   * the scopes of its class, is `null`, and is left out of a list.
   */
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
