import type { CallOptions } from "../sending/send_request.ts";
import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { JsonValue } from "./json.ts";
import type { PopulatedEntity } from "./populate.ts";
import type { SearchCallOption } from "./options.ts";
import type { SortField } from "./select.ts";

/** @internal */
export type GroupName<M> = Exclude<SortField<M>, "_id">;

/** @internal */
export type NumberName<M> = {
  [K in GroupName<M>]: [NonNullable<M[K]>] extends
    [number | bigint | { readonly _bsontype: "Decimal128" }] ? K : never;
}[GroupName<M>];

/**
 * @internal Options of `groups()`. The server answers 400 to fields that the route does not declare in
 * `all({ groups: … })`.
 */
export interface GroupsCallOptions<
  M,
  B extends string,
  S extends string,
  A extends string,
  P extends string = never,
> extends CallOptions, SearchCallOption<M> {
  /** The fields by which entities are grouped. Without `by`, all selected entities form one group. */
  readonly by?: readonly B[] | undefined;
  /** The number fields that are added up in each group. */
  readonly sum?: readonly S[] | undefined;
  /** The number fields whose average each group has. */
  readonly avg?: readonly A[] | undefined;
  /** The order of the groups, such as `["-count"]`. A `-` before a name means descending. */
  readonly sort?: readonly GroupSort<NoInfer<B>, NoInfer<S>, NoInfer<A>>[] | undefined;
  /** The references in `by` that the groups show as entities instead of identifiers. */
  readonly populate?: readonly (P & NoInfer<B>)[] | undefined;
  /** The time zone of years, months and days, such as `"Europe/Paris"`, if the route lets clients choose it. */
  readonly timeZone?: string | undefined;
}

/** @internal */
export type GroupSort<B extends string, S extends string, A extends string> = `${"" | "-"}${
  | B
  | "count"
  | `sum.${S}`
  | `avg.${A}`}`;

/**
 * A group of entities, with values of `by`, count, sums and averages. A date is a string up to the declared unit, such
 * as `"2024-03"` for a month.
 *
 * @typeParam B The fields in `by`.
 * @typeParam S The fields in `sum`.
 * @typeParam A The fields in `avg`.
 * @typeParam P The references in `populate`.
 */
export type Group<
  M,
  B extends keyof M,
  S extends keyof M,
  A extends keyof M,
  P extends keyof M = never,
> =
  & GroupValues<M, Exclude<B, P>>
  & { readonly [N in P]-?: PopulatedEntity<ModelIn<NonNullable<M[N]>>, true> | null }
  & {
    /** The number of entities in the group, if the route declares `groups: { count: true }`. */
    readonly count?: number;
  }
  & ([S] extends [never] ? unknown : { readonly sum: GroupValues<M, S> })
  & ([A] extends [never] ? unknown : { readonly avg: GroupValues<M, A> });

/** @internal A value is `null` if the entities of the group do not store the field. */
export type GroupValues<M, K extends keyof M> = {
  readonly [N in K]-?: Exclude<JsonValue<NonNullable<M[N]>>, undefined> | null;
};
