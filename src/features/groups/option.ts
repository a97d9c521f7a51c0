import type { OptionIn } from "../../declare/decorators/prop_input.ts";
import type { CheckedName, CheckedNames, Exactly } from "../../declare/model/checked_names.ts";
import type { FieldNames } from "../../declare/model/field_names.ts";

/** @internal The part of a date by which clients group a list, such as `"2024"`, `"2024-03"` or `"2024-03-09"`. */
export type DateUnit = "year" | "month" | "day";

/** @internal Options of groups, by which clients get figures instead of entities. */
export interface GroupsOptions<
  N extends string = string,
  D extends string = string,
  S extends string = string,
  A extends string = string,
> {
  /**
   * The fields that `?group=` may name, without lists and objects. With `{ createdAt: "month" }`, dates of a month form
   * one group. An entity that stores a list or an object in the field is in no group.
   */
  readonly by: readonly (N | ([D] extends [never] ? never : { readonly [K in D]?: DateUnit }))[];
  /**
   * The time zone of years, months and days, by default UTC. With a list, clients choose by `?tz=`, whose default is
   * the first zone.
   */
  readonly timeZone?: string | readonly string[];
  /** Whether groups show the number of entities. */
  readonly count?: boolean;
  /** The number fields that clients may sum by `?sum=`. */
  readonly sum?: readonly S[];
  /** The number fields that clients may average by `?avg=`. */
  readonly avg?: readonly A[];
  /** The most groups of an answer. More groups answer 409. The default is `1000`. */
  readonly max?: number;
  /** The fewest entities of a group. Answers leave out smaller groups. The default is `1`. */
  readonly minCount?: number;
}

/** @internal The option `groups`, in which the type of a wrong name is an error text. */
export type CheckedGroups<M, X> =
  & Omit<Exactly<"groups", GroupsOptions, X>, "by" | "sum" | "avg">
  & { readonly by: CheckedKeys<M, OptionIn<X, "by">> }
  & { readonly [U in "sum" | "avg"]?: CheckedNames<U, M, OptionIn<X, U>> };

type CheckedKeys<M, L> = L extends readonly unknown[] ? {
    readonly [I in keyof L]: L[I] extends object ? CheckedUnits<M, L[I]>
      : CheckedName<"group", M, L[I]>;
  }
  : GroupsOptions<FieldNames<"group", M>, FieldNames<"unit", M>>["by"];

type CheckedUnits<M, U> = {
  readonly [K in keyof U]: CheckedName<"unit", M, K> extends K ? DateUnit
    : CheckedName<"unit", M, K>;
};
