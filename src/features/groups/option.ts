import type { OptionIn } from "../../declare/decorators/prop_input.ts";
import type { CheckedName, CheckedNames, Exactly } from "../../declare/model/checked_names.ts";
import type { FieldNames } from "../../declare/model/field_names.ts";

/**
 * @internal The part of a date by which clients group a list. A group shows `"2024"`, `"2024-03"` or `"2024-03-09"`.
 */
export type DateUnit = "year" | "month" | "day";

/** @internal Options of groups, in which clients get figures about entities in the place of a list. */
export interface GroupsOptions<
  N extends string = string,
  D extends string = string,
  S extends string = string,
  A extends string = string,
> {
  /**
   * The fields that `?group=` may name, which hold no lists and no objects. With `{ createdAt: "month" }`, dates of the
   * same month form one group. An entity that stores a list or an object in such a field is in no group.
   */
  readonly by: readonly (N | ([D] extends [never] ? never : { readonly [K in D]?: DateUnit }))[];
  /**
   * The time zone of the years, months and days in `by`. With a list, clients choose a zone by `?tz=`, whose default is
   * the first zone. The default is UTC.
   */
  readonly timeZone?: string | readonly string[];
  /** Whether each group shows the number of its entities. */
  readonly count?: boolean;
  /** The number fields whose sum in each group clients may ask for by `?sum=`. */
  readonly sum?: readonly S[];
  /** The number fields whose average in each group clients may ask for by `?avg=`. */
  readonly avg?: readonly A[];
  /** The most groups of an answer. A list with more groups answers 409. The default is `1000`. */
  readonly max?: number;
  /** The minimum number of entities of a group. Answers leave out smaller groups. The default is `1`. */
  readonly minCount?: number;
}

/** @internal The type of the option `groups`. A wrong name of a field gets an error text as its type. */
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
