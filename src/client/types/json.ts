import type { JsonScalar } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type {
  IsDefaulted,
  IsHidden,
  IsReadOnly,
  IsRestricted,
  Scalar,
} from "../../declare/model/field_names.ts";
import type { FileJson, IsFile } from "./file.ts";

/**
 * The JSON of an entity in an answer. Dates, identifiers, Decimal128, UUIDs and bytes are strings, and Maps are
 * objects. A `bigint` is a number up to 2^53, and a string of digits beyond.
 *
 * Methods, getters and `Hidden` fields are left out. A `Restricted` field may be `undefined`. TypeScript does not
 * distinguish a getter from a `readonly` member, so such a member counts as a getter unless it is optional or a
 * `ReadOnly<…>`.
 */
export type Json<M> = { [K in keyof M as Shown<M, K>]: JsonValue<M[K]> };

/** @internal */
export type JsonValue<V> = 0 extends 1 & V ? unknown
  : V extends null | undefined ? V
  : IsRestricted<V> extends true ? JsonValue<Unrestricted<V>> | undefined
  : V extends Scalar ? JsonScalar<Bare<V>>
  : V extends ReadonlyMap<string, infer X> ? { [key: string]: JsonValue<X> }
  : V extends readonly (infer I)[] ? JsonValue<I>[]
  : V extends FrameworkModel ? IsFile<V> extends true ? FileJson
    : IsReadOnly<V> extends true ? JsonValue<Bare<V>>
      // Embedded entities have no version.
    : Json<Omit<Bare<V>, "__v">>
  : V extends object ? [keyof Bare<V>] extends [never] ? Bare<V> : JsonObject<Bare<V>>
  : unknown;

/** @internal */
export type JsonObject<V> = {
  [K in keyof V as V[K] extends AnyFunction ? never : K]: JsonValue<V[K]>;
};

/** @internal */
export type Shown<M, K extends keyof M> = K extends string
  ? IsHidden<NonNullable<M[K]>> extends true ? never : Stored<M, K>
  : never;

/** @internal */
export type Stored<M, K extends keyof M> = 0 extends 1 & M[K] ? K
  : [NonNullable<M[K]>] extends [AnyFunction] ? never
  : K extends keyof FrameworkModel ? K
  : IsGetter<M, K> extends true ? never
  : K;

/** @internal Whether a member counts as a getter, which is `readonly`, not optional and not `ReadOnly`. */
export type IsGetter<M, K extends keyof M> = object extends Pick<M, K> ? false
  : IsReadOnly<NonNullable<M[K]>> extends true ? false
  : IsSame<Pick<M, K>, { -readonly [P in K]: M[P] }> extends true ? false
  : true;

/** @internal The type inside a `ReadOnly<…>` or `Defaulted<…>`. */
export type Bare<V> = V extends { readonly "~readonly"?: infer T; readonly "~default"?: infer D }
  ? IsReadOnly<V> extends true ? NonNullable<T>
  : IsDefaulted<V> extends true ? NonNullable<D>
  : V
  : V;

/** @internal */
export type Unrestricted<V> = V extends { readonly "~restricted"?: infer T } ? NonNullable<T> : V;

/** @internal */
export type AnyFunction = (...args: never) => unknown;

/** @internal Whether two types are identical, including `readonly`, which assignability ignores. */
export type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2)
  ? true
  : false;
