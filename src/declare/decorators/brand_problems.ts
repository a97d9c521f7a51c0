import type {
  IsDateOnly,
  IsDefaulted,
  IsHidden,
  IsReadOnly,
  IsRestricted,
} from "../model/field_names.ts";
import type { OptionIn } from "./prop_input.ts";

/**
 * @internal The error text for a field whose type, such as `Hidden`, needs an option that `O` lacks, such as `hidden`.
 * Otherwise `P`.
 */
export type BrandProblem<V, O, P> = 0 extends 1 & V ? P
  : IsHidden<V> extends true
    ? OptionIn<O, "hidden"> extends true ? P : "the field is Hidden: add hidden: true"
  : IsReadOnly<V> extends true ? "~file" extends keyof V ? "maxBytes" extends keyof O ? P
      : "the field is a file: add maxBytes, the maximum number of bytes"
    : OptionIn<O, "readonly"> extends true ? P
    : OptionIn<O, "stamp"> extends string ? P
    : "the field is ReadOnly: add readonly: true"
  : IsRestricted<V> extends true ? OptionIn<O, "hidden"> extends AnyFunction ? P
    : "the field is Restricted: add hidden: (req) => …"
  : IsDefaulted<V> extends true
    ? "default" extends keyof O ? P : "the field is Defaulted: add default"
  : "~dateOnly" extends keyof V ? DateOnlyProblem<V, O, P>
  : P;

/** @internal */
export type DateOnlyProblem<V, O, P> = IsDateOnly<V> extends true
  ? OptionIn<O, "dateOnly"> extends true ? P : "the field is DateOnly: add dateOnly: true"
  : P;

type AnyFunction = (...args: never) => unknown;

/** @internal */
export type RestrictedProblem<F, O, P> = [O] extends [never] ? P
  : OptionIn<O, "hidden"> extends AnyFunction
    ? F extends { readonly value: infer V } ? 0 extends 1 & V ? P
      : undefined extends V ? P
      : IsRestricted<NonNullable<V>> extends true ? P
      : "hidden is a function: declare the field as Restricted, or with ?"
    : P
  : P;
