// The types of all options are written out here, because types inferred from the features are slow to check.
import type { CountOptions } from "../features/count/option.ts";
import type { ListFormat } from "../features/formats/option.ts";
import type { CheckedGroups, GroupsOptions } from "../features/groups/option.ts";
import type { HistoryOptions } from "../features/history/option.ts";
import type { IdempotencyOptions } from "../features/idempotency/option.ts";
import type { LiveDescription, LiveOptions } from "../features/live/option.ts";
import type { ListOnDelete, OnDelete } from "../features/on_delete/option.ts";
import type { PageOptions } from "../features/page/option.ts";
import type { CheckedPopulate, PopulateFields } from "../features/populate/option.ts";
import type { SearchOptions } from "../features/search/option.ts";
import type { Stamp } from "../features/stamps/option.ts";
import type { TrashOptions } from "../features/trash/option.ts";
import type { CheckedName, CheckedNames, Exactly } from "./model/checked_names.ts";
import type { FieldNames } from "./model/field_names.ts";
import type { FrameworkModel } from "./model/framework_model.ts";

/**
 * @internal The types against which the options `X` of an operation on the model `M` are checked. A wrong name of a
 * field gets an error text as its type.
 *
 * Each type is the result of a method, because TypeScript intersects all types of this table if the model is a type
 * parameter. Intersected methods are cheap, but intersected unions take all memory.
 */
export interface OptionTable<M, X> {
  page(): false | Exactly<"page", PageOptions, X>;
  sort(): CheckedNames<"sort", M, X>;
  select(): CheckedNames<"select", M, X>;
  search(): CheckedNames<"search", M, X> | { readonly index: true };
  populate(): CheckedPopulate<M, X>;
  count(): true | Exactly<"count", CountOptions, X>;
  formats(): readonly ListFormat[];
  live(): true | Exactly<"live", LiveOptions, X>;
  groups(): CheckedGroups<M, X>;
  distinct(): CheckedNames<"group", M, X>;
  many(): number;
  atomic(): boolean;
  idempotency(): Exactly<"idempotency", IdempotencyOptions, X>;
  fields(): CheckedNames<"set", M, X>;
  max(): number | false;
  q(): "required" | "optional";
  by(): CheckedName<"key", M, X>;
}

/** @internal */
export interface ReferenceFeatures<D> {
  /**
   * The effect on this entity if the entity of the reference is removed or put into the trash. `"keep"`, the default,
   * changes nothing. `"restrict"` answers 409 to the removal. `"unset"` removes the reference, also from a list.
   * `"cascade"`, which a list cannot have, removes this entity as well, without its hooks and scopes. If only the
   * referred class has a trash, write `{ cascade: "forGood" }` instead, because a restore does not bring this entity
   * back. `"restrict"` and cascades imply `exists: true`. Needs a database with transactions.
   */
  readonly onDelete?: D;
}

/** @internal */
export interface ArrayFeatures extends ReferenceFeatures<ListOnDelete> {}

/** @internal */
export interface FieldFeatures extends ReferenceFeatures<OnDelete> {
  /**
   * The write that stores its sender in the field: the creation or the last write. The sender is the `actor` of
   * `Framework.initialize()`. Clients cannot set the field.
   */
  readonly stamp?: Stamp;
  /** The maximum size of a file, in bytes. Required for `type: StoredFile`, and refused for any other field. */
  readonly maxBytes?: number;
  /**
   * The media types of files that clients may send, such as `"image/*"`, by default any type. Another type answers 415.
   * The bytes are not checked.
   */
  readonly accept?: readonly string[];
  /**
   * Whether browsers may show PNG, JPEG, GIF, WebP, AVIF, common audio and video, and plain text inside of a page.
   * Browsers save all other files, such as SVG, and by default every file.
   */
  readonly inline?: boolean;
}

/** @internal */
export interface LifecycleOptions<M extends FrameworkModel = FrameworkModel> {
  /**
   * Whether each write of an entity by a route adds a record with the replaced values. Clients who may read the entity
   * get the records by `GET {route}/:id/history`, and clients who may change it restore an earlier version by
   * `POST {route}/:id/revert`. Needs a database with transactions.
   */
  readonly history?: true | HistoryOptions;
  /**
   * Whether a removal only stores its time in the entity. No route finds the entity then, but Mongoose queries of the
   * application do. Callers for whom `see` returns `true` read the removed entities by `?trash=only`, restore one by
   * `POST {route}/:id/restore`, and remove one for good by `DELETE {route}/:id?trash=only`.
   */
  readonly trash?: true | TrashOptions<M>;
}

/** @internal If a class has several `@rest`, an option of one of them applies to all routes of the class. */
export interface ClassFeatures<M extends FrameworkModel = FrameworkModel>
  extends LifecycleOptions<M> {
  /**
   * The name of the field with the tenant of an entity. The framework sets it to the `tenant` of
   * `Framework.initialize()`, and no route reaches entities of another tenant. Mongoose queries of the application must
   * name the tenant themselves. With `false`, the entities belong to no tenant. A router with tenants requires the
   * option for each class.
   */
  readonly tenant?: string | false;
}

/** The options that another option of a field implies, such as `readonly` for `stamp`. */
export interface ImpliedOptions {
  readonly readonly?: true;
  readonly exists?: true;
  /** Whether separate routes, such as an upload, write the field, and bodies of the entity cannot. */
  readonly managed?: true;
}

export const FIELD_OPTIONS: Readonly<
  Record<keyof FieldFeatures, (value: unknown) => ImpliedOptions>
> = {
  onDelete: (value) =>
    ["restrict", "cascade"].includes(value as string) || Object(value) === value
      ? { exists: true }
      : {},
  stamp: () => ({ readonly: true }),
  maxBytes: () => ({ managed: true }),
  accept: () => ({}),
  inline: () => ({}),
};

/** Arrays take only these options of features. Any other, such as `stamp`, is an error at start-up. */
export const ARRAY_FIELD_OPTIONS: readonly (keyof ArrayFeatures)[] = ["onDelete"];

/** @internal */
export interface TakenBy {
  readonly page: readonly ["all"];
  readonly sort: readonly ["all"];
  readonly select: readonly ["all", "one"];
  readonly search: readonly ["all"];
  readonly populate: readonly ["all", "one"];
  readonly count: readonly ["all"];
  readonly formats: readonly ["all", "create"];
  readonly live: readonly ["all"];
  readonly groups: readonly ["all"];
  readonly distinct: readonly ["all"];
  readonly many: readonly ["create"];
  readonly atomic: readonly ["create", "updateAll"];
  readonly idempotency: readonly ["create"];
  readonly fields: readonly ["updateAll"];
  readonly max: readonly ["updateAll", "removeAll"];
  readonly q: readonly ["removeAll"];
  readonly by: readonly ["replace"];
}

/** @internal */
export type OptionName = keyof TakenBy;

/** @internal */
export type OptionsTaken<O> = {
  [N in OptionName]: O extends TakenBy[N][number] ? N : never;
}[OptionName];

/** @internal */
export type TakersInWords<N extends OptionName> = TakenBy[N] extends
  readonly [infer A extends string, infer B extends string] ? `${A}() and ${B}() have`
  : `${TakenBy[N][0]}() has`;

/** @internal The properties that options of an operation add to the result of `Framework.describe()`. */
export interface OptionDescriptions {
  /** The groups that clients can request instead of entities. */
  readonly groups?: Required<GroupsOptions>;
  /** The formats besides JSON of a list in an answer, or of entities in a body. */
  readonly formats?: readonly ListFormat[];
  /** The limits of the live list that `Accept: text/event-stream` requests. */
  readonly live?: LiveDescription;
}

/**
 * @internal The options of `all()`, of which `one()` takes only `select` and `populate`. Clients can use a feature only
 * if its option is set.
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
  /**
   * The pages of a list, which clients choose with `?limit=`, and `?after=` or `?skip=`. With `false`, the list has no
   * pages. `strict` requires the option.
   */
  readonly page?: PageOptions | false | undefined;
  /** The fields by which clients can sort, such as `?sort=-year,name`. Lists and objects are refused. */
  readonly sort?: readonly FieldNames<"sort", M>[] | undefined;
  /**
   * The fields that clients can choose, such as `?select=name,year`. Without it, an answer has all fields that the
   * client sees.
   */
  readonly select?: readonly FieldNames<"select", M>[] | undefined;
  /**
   * The string fields in which `?search=` looks for words, or `{ index: true }` to search by a text index of MongoDB.
   */
  readonly search?: SearchOptions<FieldNames<"search", M>> | undefined;
  /**
   * The references that clients can replace by entities, such as `?populate=actors`. A reference to a missing entity
   * becomes `null`, or is left out of a list of references. The scope and hidden fields of the referenced class apply,
   * but its hooks do not run.
   */
  readonly populate?: PopulateFields<M> | undefined;
  /**
   * Whether clients can ask for the number of entities on all pages by `Prefer: count=exact`, or always get it, in the
   * header `X-Total-Count`. Not allowed with hooks on entities, because it would count entities that they reject.
   */
  readonly count?: true | CountOptions | undefined;
  /**
   * Whether clients can follow a list. With `Accept: text/event-stream`, they get the list, and an event for each later
   * change that they may see. Needs a replica set.
   */
  readonly live?: true | LiveOptions | undefined;
  /** The formats besides JSON that clients can ask for with the header `Accept`. */
  readonly formats?: readonly ListFormat[] | undefined;
  /**
   * The groups of entities that clients can ask for, such as `?group=state&sum=price`. Not allowed with hooks on
   * entities, because groups would include entities that they reject.
   */
  readonly groups?:
    | GroupsOptions<
      FieldNames<"group", M>,
      FieldNames<"unit", M>,
      FieldNames<"sum", M>,
      FieldNames<"avg", M>
    >
    | undefined;
  /**
   * The fields whose different values clients can ask for, ascending, such as `?distinct=state`. More than 1000 values
   * answer 409. Not allowed with hooks on entities, as for `groups`.
   */
  readonly distinct?: readonly FieldNames<"group", M>[] | undefined;
}

/**
 * @internal The options of writes.
 *
 * @example Import movies, archive many at once, and keep one by its key
 * ```ts
 * import { create, FrameworkModel, prop, removeAll, replace, rest, updateAll } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/movies",
 *   methods: [
 *     create({ many: 1000, idempotency: { keep: "24h" } }),
 *     updateAll({ fields: ["archived"], max: 1000 }),
 *     removeAll({ max: 1000, q: "required" }),
 *     replace({ by: "slug" }),
 *   ],
 * })
 * class Movie extends FrameworkModel {
 *   @prop({ required: true, unique: true })
 *   slug!: string;
 *   @prop({ type: Boolean, default: false })
 *   archived!: boolean;
 * }
 * ```
 */
export interface WriteOptions<M = unknown> {
  /**
   * The maximum number of entities in a body of `create()` that is an array. By default, a body has a single entity.
   */
  readonly many?: number | undefined;
  /**
   * Whether either all entities are written or none, in a transaction. The default is `true`. With `false`, no
   * transaction is needed, `create()` answers a result for each entity, and `updateAll()` an error for each entity that
   * it cannot change. Only for `create()` with `many`, and `updateAll()`.
   */
  readonly atomic?: boolean | undefined;
  /**
   * The formats of bodies besides JSON. A body of `"ndjson"` has an entity on each line. The first line of a `"csv"`
   * body names fields. Each `'` that an answer in CSV puts before a spreadsheet formula is removed again. The lines are
   * stored in batches of up to `many` lines. A wrong line does not stop the others, and the answer has a result for
   * each. Only for `create()` with `many`.
   */
  readonly formats?: readonly ListFormat[] | undefined;
  /**
   * The settings of the header `Idempotency-Key`, with which clients can repeat a request and create no second entity.
   * Only for `create()` without a `persist` hook.
   */
  readonly idempotency?: IdempotencyOptions | undefined;
  /** The fields that a body of `updateAll()` may set. */
  readonly fields?: readonly FieldNames<"set", M>[] | undefined;
  /**
   * The maximum number of entities that `updateAll()` and `removeAll()` may change. A request that selects more answers
   * 409. With `false`, there is no limit. The default is 1000, but `false` for `removeAll()` without `strict`.
   */
  readonly max?: number | false | undefined;
  /**
   * Whether `removeAll()` refuses requests without `q`. The default is `"required"` with `strict`, else `"optional"`.
   * `updateAll()` always refuses such requests.
   */
  readonly q?: "required" | "optional" | undefined;
  /**
   * The field that names an entity in the path of `replace()`. The default is `_id`. Any other field needs a unique
   * index, which may be sparse.
   */
  readonly by?: FieldNames<"key", M> | undefined;
}
