import type { NoOtherOptions } from "../decorators/prop_input.ts";
import type { FieldNames, FieldUse, NameProblem } from "./field_names.ts";

/**
 * @internal The type of a list of field names that clients use in the way `U`, such as sorting. A wrong name gets an
 * error text as its type, which TypeScript prints. `L` is the type of the given list.
 */
export type CheckedNames<U extends FieldUse, M, L> = L extends readonly unknown[]
  ? { readonly [I in keyof L]: CheckedName<U, M, L[I]> }
  : readonly FieldNames<U, M>[];

/**
 * @internal The type of the name of a field that clients use in the way `U`, such as sorting. A wrong name gets an
 * error text as its type, which TypeScript prints.
 */
export type CheckedName<U extends FieldUse, M, N> = N extends FieldNames<U, M> ? N
  : N extends keyof M ? NameProblem<U, M, N>
  : FieldNames<U, M>;

/**
 * @internal The type of the options of a feature, such as `page`, which accepts only the names in `T`. Any other name
 * in the given options `X` gets an error text as its type, which TypeScript prints.
 */
export type Exactly<N extends string, T, X> = [Exclude<keyof X, keyof T>] extends [never] ? T
  : T & NoOtherOptions<N, X, keyof T>;
