import type { Scalar } from "../model/field_names.ts";
import type { FrameworkModel } from "../model/framework_model.ts";

/** @internal What a scalar is in JSON. */
export type JsonScalar<V> = V extends boolean ? V
  : V extends bigint ? string | number
  : V extends string | number ? Literals<V>
  : string;

/** @internal The values of an enum, or the type itself. */
export type Literals<V> = V extends string ? string extends V ? string : `${V}`
  : V extends number
    ? number extends V ? number : `${V}` extends `${infer N extends number}` ? N : number
  : V;

/** @internal What a value of a field is in JSON. The fields of embedded models are not checked. */
export type JsonForm<V> = unknown extends V ? unknown
  : V extends Scalar ? JsonScalar<V>
  : V extends Map<string, infer I> ? { readonly [key: string]: JsonForm<I> }
  : V extends readonly (infer I)[] ? readonly JsonForm<I>[]
  : V extends FrameworkModel ? { readonly [key: string]: unknown }
  : V extends object ? object
  : V;
