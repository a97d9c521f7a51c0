import type { OptionIn } from "../../declare/decorators/prop_input.ts";
import type { CheckedNames, Exactly } from "../../declare/model/checked_names.ts";
import type {
  FieldNames,
  IsKnown,
  NameProblem,
  TargetOf,
} from "../../declare/model/field_names.ts";

/** @internal Options of a reference that answers can show as an entity instead of an identifier. */
export interface PopulateOptions<N extends string = string> {
  /** The shown fields besides `_id`, by default all fields that clients see. */
  readonly select?: readonly N[];
  /** Whether every answer shows the entity. Otherwise, clients ask by `?populate=`. */
  readonly always?: boolean;
}

/** @internal The option `populate`. If the model is known, only names of references are accepted. */
export type PopulateFields<M> = IsKnown<M> extends false
  ? Readonly<Record<string, true | PopulateOptions>>
  : {
    readonly [K in FieldNames<"populate", M>]?:
      | true
      | PopulateOptions<FieldNames<"select", TargetOf<M, K>>>;
  };

/** @internal The option `populate`, in which the type of a wrong name is an error text. */
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
