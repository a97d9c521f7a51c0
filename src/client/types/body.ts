import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type {
  IsDateOnly,
  IsDefaulted,
  IsHidden,
  IsReadOnly,
  IsRestricted,
} from "../../declare/model/field_names.ts";
import type { AnyFunction, Bare, JsonValue, Shown, Stored } from "./json.ts";

/**
 * The body of `create()`. A field is required unless it is optional, an array, nullable, `Defaulted` or `Restricted`. A
 * value that JSON cannot hold, such as `NaN`, throws a `TypeError` with the path of the value.
 */
export type NewOf<M> =
  & { readonly [K in keyof M as Needed<M, K>]: Input<M[K]> }
  & {
    readonly [K in keyof M as Exclude<Settable<M, K>, Needed<M, K>>]?: Input<M[K]> | undefined;
  };

/**
 * The body of `update()`, which is a merge patch. Objects are merged, lists are replaced, and `null` clears a field.
 * `ReadOnly` and `Hidden` fields do not compile, but only the option `readonly` stops other clients. The body can
 * repeat the stored `_id` and `__v`. A server with strict bodies answers 409 to another `__v`. Other servers ignore
 * both.
 */
export type PatchOf<M> = {
  readonly [K in keyof M as K extends keyof FrameworkModel ? K : Changeable<M, K>]?: K extends
    keyof FrameworkModel ? JsonValue<M[K]> | undefined : Patch<M[K]> | null | undefined;
};

/** The body of `updateAll()`, which is a merge patch for many entities, without `_id` and `__v`. */
export type ChangesOf<M> = {
  readonly [K in keyof M as Changeable<M, K>]?: Patch<M[K]> | null | undefined;
};

/**
 * The body of `replace()`, which clears missing fields. It can repeat the stored `_id`, `__v` and `ReadOnly` fields, so
 * that an application can send back an entity.
 */
export type ReplacementOf<M> = {
  readonly [K in keyof M as Settable<M, K> | Repeated<M, K>]?: [Settable<M, K>] extends [never]
    ? JsonValue<M[K]> | undefined
    : Input<M[K]> | undefined;
};

/** @internal The name of a member that a body can contain only with its stored value. */
export type Repeated<M, K extends keyof M> = K extends keyof FrameworkModel ? K
  : IsReadOnly<NonNullable<M[K]>> extends true ? Shown<M, K>
  : never;

/** @internal */
export type Settable<M, K extends keyof M> = K extends keyof FrameworkModel ? never
  : K extends string ? IsReadOnly<NonNullable<M[K]>> extends true ? never : Stored<M, K>
  : never;

/** @internal */
export type Changeable<M, K extends keyof M> = IsHidden<NonNullable<M[K]>> extends true ? never
  : Settable<M, K>;

/** @internal */
export type Needed<M, K extends keyof M> = object extends Pick<M, K> ? never
  : undefined extends M[K] ? never
  : null extends M[K] ? never
  : M[K] extends readonly unknown[] ? never
  : IsDefaulted<M[K]> extends true ? never
  : IsRestricted<M[K]> extends true ? never
  : Settable<M, K>;

/**
 * @internal The type of a field in a body, which accepts more than its type `V` in the class, such as strings for
 * dates.
 */
export type Input<V> = 0 extends 1 & V ? unknown
  : V extends null | undefined | boolean ? Bare<V>
  : V extends string | number ? IsHidden<V> extends true ? V : Literals<Bare<V>>
  : V extends bigint ? bigint | number | string
  : V extends Date ? IsDateOnly<V> extends true ? string : Date | string
  : V extends { readonly _bsontype: "Decimal128" } ? string | number
  : V extends Uint8Array | { readonly _bsontype: string } ? string
  : V extends ReadonlyMap<string, infer X> ? { readonly [key: string]: Input<X> }
  : V extends readonly (infer I)[] ? readonly Input<I>[]
  : V extends FrameworkModel ? NewElement<Bare<V>>
  : V extends object ? [keyof Bare<V>] extends [never] ? Bare<V> : InputObject<Bare<V>>
  : unknown;

/** @internal */
export type InputObject<V> = {
  readonly [K in keyof V as V[K] extends AnyFunction ? never : K]: Input<V[K]>;
};

/**
 * @internal The body of an embedded entity. With the stored `_id`, an entity in a replaced list keeps its identifier.
 */
export type NewElement<E> = NewOf<E> & { readonly _id?: string | undefined };

/**
 * @internal The value of a field in a merge patch. Embedded entities and Maps may be partial, because the server merges
 * them.
 */
export type Patch<V> = V extends FrameworkModel ? PatchOf<Bare<V>>
  : V extends ReadonlyMap<string, infer X> ? { readonly [key: string]: Patch<X> | null }
  : Input<V>;
