import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { Scalar } from "../../declare/model/field_names.ts";
import type { Bare, Json } from "./json.ts";

/**
 * A filter: fields with values or operators. It is the parameter `q`.
 *
 * Fields of embedded entities have paths, such as `"address.city"`. Beyond three names they are not checked. No value is
 * `undefined`, or an object of a class without `toJSON`: it is refused, because a filter without it would select more.
 *
 * @typeParam M The model.
 */
export type Query<M> = QueryFields<M> & QueryClauses<M>;

/** @internal The conditions on fields. */
export type QueryFields<M> = {
  readonly [P in Path<M>]?: Condition<At<M, P>>;
};

/**
 * Filters that are joined.
 *
 * @typeParam M The model.
 */
export interface QueryClauses<M> {
  /** All of them hold. */
  readonly $and?: readonly Query<M>[];
  /** At least one of them holds. */
  readonly $or?: readonly Query<M>[];
  /** None of them holds. */
  readonly $nor?: readonly Query<M>[];
}

/**
 * A condition on a field: a value, or operators.
 *
 * @typeParam V The TypeScript type of the field.
 */
export type Condition<V> = unknown extends V ? unknown
  : IsFree<Item<V>> extends true ? object | null
  :
    | Compared<Item<V>>
    | (IsList<V> extends true ? readonly Compared<Item<V>>[] : never)
    | null
    | Operators<V>;

/** @internal The operators that a field takes. */
export type Operators<V> =
  & Comparisons<V, Compared<Item<V>>>
  & ([Item<V>] extends [string] ? TextOperators : unknown)
  & ([Item<V>] extends [number] ? NumberOperators : unknown)
  & (IsList<V> extends true ? ListOperators<Item<V>> : unknown);

/**
 * Operators of every field.
 *
 * @typeParam V The TypeScript type of the field.
 * @typeParam C What it is compared with.
 */
export interface Comparisons<V, C> {
  /** It is this value. */
  readonly $eq?: C | null;
  /** It is another value. */
  readonly $ne?: C | null;
  /** It is greater. */
  readonly $gt?: C;
  /** It is greater or equal. */
  readonly $gte?: C;
  /** It is less. */
  readonly $lt?: C;
  /** It is less or equal. */
  readonly $lte?: C;
  /** It is one of these values. */
  readonly $in?: readonly (C | null)[];
  /** It is none of these values. */
  readonly $nin?: readonly (C | null)[];
  /** It has a value, or has none. */
  readonly $exists?: boolean;
  /** It is stored as this type of MongoDB. */
  readonly $type?: string | number | readonly (string | number)[];
  /** These operators do not hold. */
  readonly $not?: Operators<V>;
}

/** Operators of strings. */
export interface TextOperators {
  /** It matches this regular expression. */
  readonly $regex?: string;
  /** The flags of the expression, out of `imsx`. */
  readonly $options?: string;
}

/** Operators of numbers. */
export interface NumberOperators {
  /** Divided by the first number, it leaves the second one. */
  readonly $mod?: readonly [number, number];
  /** Near this place, for a list of coordinates. */
  readonly $near?: object;
  /** Near this place on a sphere, for a list of coordinates. */
  readonly $nearSphere?: object;
  /** At least as far as this. */
  readonly $minDistance?: number;
  /** At most as far as this. */
  readonly $maxDistance?: number;
  /** Inside of this area, for a list of coordinates. */
  readonly $geoWithin?: object;
}

/**
 * Operators of lists.
 *
 * @typeParam I The TypeScript type of an element.
 */
export interface ListOperators<I> {
  /** All of these values are elements. */
  readonly $all?: readonly Compared<I>[];
  /** It has that many elements. */
  readonly $size?: number;
  /** One element matches all of it. */
  readonly $elemMatch?: I extends FrameworkModel ? Query<Omit<I, "__v">> : Operators<I>;
}

/** @internal What a value is compared with. */
export type Compared<I> = I extends boolean ? boolean
  : I extends string | number ? Literals<Bare<I>>
  : I extends bigint ? bigint | number | string
  : I extends Date ? Date | string
  : I extends { readonly _bsontype: "Decimal128" } ? string | number
  : I extends Uint8Array | { readonly _bsontype: string } ? string
  : never;

/** @internal The element of a list, or the value itself. */
export type Item<V> = NonNullable<V> extends readonly (infer I)[] ? NonNullable<I> : NonNullable<V>;

/** @internal Whether a value is a list. */
export type IsList<V> = [NonNullable<V>] extends [readonly unknown[]] ? true : false;

/** @internal Whether a value is a free-form object, whose fields are not declared. */
export type IsFree<I> = [I] extends [Scalar | FrameworkModel | ReadonlyMap<string, unknown>] ? false
  : [I] extends [object] ? true
  : false;

/** @internal The paths of fields. `D` is the depth. */
export type Path<M, D extends readonly 0[] = []> = {
  [K in keyof Json<M> & keyof M & string]: K | `${K}.${Below<Item<M[K]>, D>}`;
}[keyof Json<M> & keyof M & string];

/** @internal The paths of fields inside of a value. Those of more than three names are not listed. */
export type Below<I, D extends readonly 0[]> = I extends Scalar ? never
  : I extends ReadonlyMap<string, unknown> ? string
  : I extends FrameworkModel ? D["length"] extends 2 ? string : Path<Omit<I, "__v">, [...D, 0]>
  : I extends object ? string
  : never;

/** @internal The type of the value at a path. */
export type At<M, P> = P extends keyof M ? M[P]
  : P extends `${infer K}.${infer R}` ? K extends keyof M ? Inside<Item<M[K]>, R> : unknown
  : unknown;

/** @internal The type of the value at a path inside of a value. */
export type Inside<I, R> = I extends ReadonlyMap<string, infer X> ? X
  : I extends FrameworkModel ? At<I, R>
  : unknown;
