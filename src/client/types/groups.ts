import type { CallOptions } from "../sending/send_request.ts";
import type { JsonValue } from "./json.ts";
import type { Query } from "./query.ts";
import type { SortField } from "./select.ts";

/**
 * The names of the fields that a list can be grouped by.
 *
 * @typeParam M The model.
 */
export type GroupName<M> = Exclude<SortField<M>, "_id">;

/**
 * The names of the fields that hold a number.
 *
 * @typeParam M The model.
 */
export type NumberName<M> = {
  [K in GroupName<M>]: [NonNullable<M[K]>] extends
    [number | bigint | { readonly _bsontype: "Decimal128" }] ? K : never;
}[GroupName<M>];

/**
 * Options of `groups()`. The server must have declared the names.
 *
 * @typeParam M The model.
 * @typeParam B The option `by`.
 * @typeParam S The option `sum`.
 * @typeParam A The option `avg`.
 */
export interface GroupOptions<M, B extends string, S extends string, A extends string>
  extends CallOptions {
  /** The fields that the entities of a group have in common. Without them, there is one group of all. */
  readonly by?: readonly B[] | undefined;
  /** The numbers that are added up. */
  readonly sum?: readonly S[] | undefined;
  /** The numbers whose average is computed. */
  readonly avg?: readonly A[] | undefined;
  /** The order: a `-` means descending. */
  readonly sort?: readonly GroupSort<NoInfer<B>, NoInfer<S>, NoInfer<A>>[] | undefined;
  /** A filter. */
  readonly q?: Query<M> | undefined;
  /** Words that occur in the entities. */
  readonly search?: string | undefined;
}

/** @internal The names by which groups are sorted. */
export type GroupSort<B extends string, S extends string, A extends string> = `${"" | "-"}${
  | B
  | "count"
  | `sum.${S}`
  | `avg.${A}`}`;

/**
 * A group of entities: what they have in common, and their numbers. Dates are text, as long as the unit that the server has
 * declared.
 *
 * @typeParam M The model.
 * @typeParam B The names of the fields in common.
 * @typeParam S The names of what is added up.
 * @typeParam A The names of what has an average.
 */
export type Group<M, B extends keyof M, S extends keyof M, A extends keyof M> =
  & GroupValues<M, B>
  & {
    /** How many entities it has, if the server tells. */
    readonly count?: number;
  }
  & ([S] extends [never] ? unknown : { readonly sum: GroupValues<M, S> })
  & ([A] extends [never] ? unknown : { readonly avg: GroupValues<M, A> });

/** @internal The JSON of fields; `null` where nothing is stored. */
export type GroupValues<M, K extends keyof M> = {
  readonly [N in K]-?: Exclude<JsonValue<NonNullable<M[N]>>, undefined> | null;
};
