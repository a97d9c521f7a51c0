import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { IsHidden, IsReadOnly } from "../../declare/model/field_names.ts";
import type { AnyFunction, Stored } from "./json.ts";

/**
 * The body of `create()`: the fields that a body can set. The compiler knows neither defaults nor hooks, so all of them
 * are optional: the server says which ones are missing.
 *
 * @typeParam M The model.
 */
export type NewOf<M> = { readonly [K in keyof M as Settable<M, K>]?: Input<M[K]> | undefined };

/**
 * The body of `update()`: a merge patch. Objects are merged, lists are replaced, and `null` clears a field.
 *
 * @typeParam M The model.
 */
export type PatchOf<M> = {
  readonly [K in keyof M as Settable<M, K>]?: Patch<M[K]> | null | undefined;
};

/** @internal The name of a member, if a body can set it. */
export type Settable<M, K extends keyof M> = K extends keyof FrameworkModel ? never
  : K extends string ? IsReadOnly<NonNullable<M[K]>> extends true ? never : Stored<M, K>
  : never;

/** @internal What a body says for a value. */
export type Input<V> = 0 extends 1 & V ? unknown
  : V extends null | undefined | boolean ? V
  : V extends string | number ? IsHidden<V> extends true ? V : Literals<V>
  : V extends bigint ? bigint | number | string
  : V extends Date ? Date | string
  : V extends { readonly _bsontype: "Decimal128" } ? string | number
  : V extends Uint8Array | { readonly _bsontype: string } ? string
  : V extends ReadonlyMap<string, infer X> ? { readonly [key: string]: Input<X> }
  : V extends readonly (infer I)[] ? readonly Input<I>[]
  : V extends FrameworkModel ? NewElement<V>
  : V extends object ? [keyof V] extends [never] ? V : InputObject<V>
  : unknown;

/** @internal An object in a free-form field. */
export type InputObject<V> = {
  readonly [K in keyof V as V[K] extends AnyFunction ? never : K]: Input<V[K]>;
};

/** @internal An embedded entity. One that is stored keeps its identifier. */
export type NewElement<E> = NewOf<E> & { readonly _id?: string | undefined };

/** @internal What a patch says for a value. */
export type Patch<V> = V extends FrameworkModel ? PatchOf<V>
  : V extends ReadonlyMap<string, infer X> ? { readonly [key: string]: Patch<X> | null }
  : Input<V>;
