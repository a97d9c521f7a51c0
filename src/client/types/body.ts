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
 * The body of `create()`, with the fields that a body can set. A field is needed unless it is optional in the class, an
 * array, nullable, `Defaulted` or `Restricted`. A value that JSON cannot hold, such as `NaN` or a `Promise`, throws a
 * `TypeError` with the path of the value.
 */
export type NewOf<M> =
  & { readonly [K in keyof M as Needed<M, K>]: Input<M[K]> }
  & {
    readonly [K in keyof M as Exclude<Settable<M, K>, Needed<M, K>>]?: Input<M[K]> | undefined;
  };

/**
 * The body of `update()`, which is a merge patch. Objects are merged, lists are replaced, and `null` clears a field.
 * `ReadOnly` and `Hidden` fields do not compile, but only the option `readonly` stops other clients. The body can
 * repeat the stored `_id` and `__v`. A server with strict bodies answers 409 if `__v` is not the stored version, and
 * other servers ignore both.
 */
export type PatchOf<M> = {
  readonly [K in keyof M as K extends keyof FrameworkModel ? K : Changeable<M, K>]?: K extends
    keyof FrameworkModel ? JsonValue<M[K]> | undefined : Patch<M[K]> | null | undefined;
};

/**
 * The body of `updateAll()`, which is a merge patch for many entities. It cannot contain `_id` and `__v`, which differ
 * from entity to entity.
 */
export type ChangesOf<M> = {
  readonly [K in keyof M as Changeable<M, K>]?: Patch<M[K]> | null | undefined;
};

/**
 * The body of `replace()`. Fields that the body leaves out are cleared. The body can repeat the stored values of `_id`,
 * `__v` and `ReadOnly` fields, so that an application can send an entity that it has read and changed.
 */
export type ReplacementOf<M> = {
  readonly [K in keyof M as Settable<M, K> | Repeated<M, K>]?: [Settable<M, K>] extends [never]
    ? JsonValue<M[K]> | undefined
    : Input<M[K]> | undefined;
};

/** @internal The name of a member that a body can repeat but cannot set, else `never`. */
export type Repeated<M, K extends keyof M> = K extends keyof FrameworkModel ? K
  : IsReadOnly<NonNullable<M[K]>> extends true ? Shown<M, K>
  : never;

/** @internal The name of a member if a body can set it, else `never`. */
export type Settable<M, K extends keyof M> = K extends keyof FrameworkModel ? never
  : K extends string ? IsReadOnly<NonNullable<M[K]>> extends true ? never : Stored<M, K>
  : never;

/** @internal The name of a member if an update can set it, else `never`. */
export type Changeable<M, K extends keyof M> = IsHidden<NonNullable<M[K]>> extends true ? never
  : Settable<M, K>;

/** @internal The name of a member that the body of a creation needs, else `never`. */
export type Needed<M, K extends keyof M> = object extends Pick<M, K> ? never
  : undefined extends M[K] ? never
  : null extends M[K] ? never
  : M[K] extends readonly unknown[] ? never
  : IsDefaulted<M[K]> extends true ? never
  : IsRestricted<M[K]> extends true ? never
  : Settable<M, K>;

/** @internal The value of a field of the type `V` in a body, which can have more types, as a date can be a string. */
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
 * @internal A body that replaces a list can repeat the `_id` of a stored entity, so that the entity keeps its
 * identifier.
 */
export type NewElement<E> = NewOf<E> & { readonly _id?: string | undefined };

/**
 * @internal The value of a field in a merge patch. Embedded entities and Maps may be partial, because the server merges
 * them with the stored values.
 */
export type Patch<V> = V extends FrameworkModel ? PatchOf<Bare<V>>
  : V extends ReadonlyMap<string, infer X> ? { readonly [key: string]: Patch<X> | null }
  : Input<V>;
