import type { OptionIn } from "../../declare/decorators/prop_input.ts";
import type { CheckedNames, Exactly } from "../../declare/model/checked_names.ts";
import type {
  FieldNames,
  IsKnown,
  NameProblem,
  TargetOf,
} from "../../declare/model/field_names.ts";

/** @internal Options of a reference for which answers can show the referenced entity in the place of its identifier. */
export interface PopulateOptions<N extends string = string> {
  /** The fields of the entity that answers show besides `_id`. The default is all fields that clients see. */
  readonly select?: readonly N[];
  /** Whether every answer shows the entity. Otherwise, clients ask for the entity with `?populate=`. */
  readonly always?: boolean;
}

/** @internal The type of the option `populate`. If the model is known, only the names of references are accepted. */
export type PopulateFields<M> = IsKnown<M> extends false
  ? Readonly<Record<string, true | PopulateOptions>>
  : {
    readonly [K in FieldNames<"populate", M>]?:
      | true
      | PopulateOptions<FieldNames<"select", TargetOf<M, K>>>;
  };

/** @internal The type of the option `populate`. A name that is no reference gets an error text as its type. */
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

type PopulateInput<T, X> =
  & Omit<Exactly<"populate", PopulateOptions, X>, "select">
  & { readonly select?: CheckedNames<"select", T, OptionIn<X, "select">> };
