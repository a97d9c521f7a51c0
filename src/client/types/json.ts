import type { JsonScalar } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { IsHidden, IsReadOnly, Scalar } from "../../declare/model/field_names.ts";

/**
 * The JSON of an entity in an answer: dates, identifiers, Decimal128, UUIDs and bytes are strings, Maps are objects, a
 * `bigint` is a number up to 2^53 and a string of digits beyond it.
 *
 * Methods and `Hidden` fields are gone. A `readonly` member of the class is taken for a getter, which is in no answer,
 * unless it is optional or its type says `ReadOnly<…>`.
 *
 * @typeParam M The model.
 */
export type Json<M> = { [K in keyof M as Shown<M, K>]: JsonValue<M[K]> };

/**
 * The JSON of an entity that is embedded in another one. It has no version of its own.
 *
 * @typeParam M The model.
 */
export type JsonPart<M> = {
  [K in keyof M as K extends "__v" ? never : Shown<M, K>]: JsonValue<M[K]>;
};

/**
 * The JSON of a value in an answer.
 *
 * @typeParam V The TypeScript type of the field.
 */
export type JsonValue<V> = 0 extends 1 & V ? unknown
  : V extends null | undefined ? V
  : V extends Scalar ? JsonScalar<Bare<V>>
  : V extends ReadonlyMap<string, infer X> ? { [key: string]: JsonValue<X> }
  : V extends readonly (infer I)[] ? JsonValue<I>[]
  : V extends FrameworkModel ? JsonPart<V>
  : V extends object ? [keyof Bare<V>] extends [never] ? Bare<V> : JsonObject<Bare<V>>
  : unknown;

/** @internal What an answer shows of an object in a free-form field. */
export type JsonObject<V> = {
  [K in keyof V as V[K] extends AnyFunction ? never : K]: JsonValue<V[K]>;
};

/** @internal The name of a member, if answers show it. */
export type Shown<M, K extends keyof M> = K extends string
  ? IsHidden<NonNullable<M[K]>> extends true ? never : Stored<M, K>
  : never;

/** @internal The name of a member, if it is a field: no method, no getter. */
export type Stored<M, K extends keyof M> = 0 extends 1 & M[K] ? K
  : [NonNullable<M[K]>] extends [AnyFunction] ? never
  : K extends keyof FrameworkModel ? K
  : IsGetter<M, K> extends true ? never
  : K;

/** @internal Whether a member is one that only a getter declares: `readonly`, not optional, not `ReadOnly`. */
export type IsGetter<M, K extends keyof M> = object extends Pick<M, K> ? false
  : IsReadOnly<NonNullable<M[K]>> extends true ? false
  : IsSame<Pick<M, K>, { -readonly [P in K]: M[P] }> extends true ? false
  : true;

/** @internal The value in a `ReadOnly`, or the value itself. */
export type Bare<V> = V extends { readonly "~readonly"?: infer T }
  ? IsReadOnly<V> extends true ? NonNullable<T> : V
  : V;

/** @internal Any function. */
export type AnyFunction = (...args: never) => unknown;

/** @internal Whether two types are the same, modifiers included. */
export type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2)
  ? true
  : false;
