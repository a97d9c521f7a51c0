import type { OptionIn } from "../decorators/prop_input.ts";
import type {
  CountOptions,
  PageOptions,
  PopulateFields,
  PopulateOptions,
} from "../hooks/read_options.ts";
import type { FieldNames, FieldUse, IsKnown, NameProblem, TargetOf } from "../model/field_names.ts";
import type { OptionsRead } from "./hooks_input.ts";
import type { OperationName } from "./operation.ts";

/** @internal The options of reads that an operation takes. A wrong name gets its problem as type. `H` is what was given. */
export type ReadInput<O extends OperationName, M, H> = Pick<ListInput<M, H>, OptionsRead[O]>;

/** @internal The options of a list. */
export interface ListInput<M, H> {
  /** Lists have pages, which clients choose with `?limit=`, and `?after=` or `?skip=`. */
  readonly page?: Exactly<"page", PageOptions, OptionIn<H, "page">> | undefined;
  /** The fields by which clients can sort, such as `?sort=-year,name`: no lists and no objects. */
  readonly sort?: CheckedNames<"sort", M, OptionIn<H, "sort">> | undefined;
  /** The fields that clients can choose, such as `?select=name,year`. */
  readonly select?: CheckedNames<"select", M, OptionIn<H, "select">> | undefined;
  /** The string fields in which `?search=` looks for words. */
  readonly search?:
    | CheckedNames<"search", M, OptionIn<H, "search">>
    | { readonly index: true }
    | undefined;
  /** The references that clients can replace by entities, such as `?populate=actors`. */
  readonly populate?: CheckedPopulate<M, OptionIn<H, "populate">> | undefined;
  /** Lists tell their total. */
  readonly count?: true | Exactly<"count", CountOptions, OptionIn<H, "count">> | undefined;
}

/** @internal Names of fields, or their problems. `L` is what was given. */
export type CheckedNames<U extends FieldUse, M, L> = L extends readonly unknown[]
  ? { readonly [I in keyof L]: CheckedName<U, M, L[I]> }
  : readonly FieldNames<U, M>[];

/** @internal A name of a field, or its problem. */
export type CheckedName<U extends FieldUse, M, N> = N extends FieldNames<U, M> ? N
  : N extends keyof M ? NameProblem<U, M, N>
  : FieldNames<U, M>;

/** @internal The option `populate`, or its problem. `P` is what was given. */
export type CheckedPopulate<M, P> = P extends readonly unknown[]
  ? "populate is an object, such as { director: true }"
  : IsKnown<M> extends false
    ? P extends object ? { readonly [K in keyof P]: true | PopulateInput<unknown, P[K]> }
    : PopulateFields<unknown>
  :
    & {
      readonly [K in FieldNames<"populate", M>]?:
        | true
        | PopulateInput<TargetOf<M, K>, OptionIn<P, K>>;
    }
    & {
      readonly [K in Exclude<keyof P & string, FieldNames<"populate", M>>]: K extends keyof M
        ? NameProblem<"populate", M, K>
        : `populate takes references, the class has no ${K}`;
    };

/** @internal The options of a populated reference to the model `T`. `X` is what was given. */
export type PopulateInput<T, X> =
  & Omit<Exactly<"populate", PopulateOptions, X>, "select">
  & { readonly select?: CheckedNames<"select", T, OptionIn<X, "select">> };

/** @internal Options `T`. Names that it does not have are problems. `X` is what was given. */
export type Exactly<N extends string, T, X> = [Exclude<keyof X, keyof T>] extends [never] ? T
  : T & { readonly [K in Exclude<keyof X & string, keyof T>]: `${N} has no option ${K}` };
