import type { NoOtherOptions } from "../decorators/prop_input.ts";
import type { FieldNames, FieldUse, NameProblem } from "./field_names.ts";

/** @internal The type of a list `L` of field names. A wrong name gets an error text as its type. */
export type CheckedNames<U extends FieldUse, M, L> = L extends readonly unknown[]
  ? { readonly [I in keyof L]: CheckedName<U, M, L[I]> }
  : readonly FieldNames<U, M>[];

/** @internal */
export type CheckedName<U extends FieldUse, M, N> = N extends FieldNames<U, M> ? N
  : N extends keyof M ? NameProblem<U, M, N>
  : FieldNames<U, M>;

/** @internal The type `T` of a feature's options. If the given options `X` have other names, these get error texts. */
export type Exactly<N extends string, T, X> = [Exclude<keyof X, keyof T>] extends [never] ? T
  : T & NoOtherOptions<N, X, keyof T>;
