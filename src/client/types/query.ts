import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { Scalar } from "../../declare/model/field_names.ts";
import type { Bare, Json } from "./json.ts";

/**
 * A filter, which the client sends as the parameter `q`. A filter has conditions on fields, and clauses such as `$or`.
 *
 * A value of `undefined`, or an object of a class without `toJSON`, throws a `TypeError`. JSON would drop the
 * condition, and the filter would select more entities. A path such as `"address.city"` names a field of an embedded
 * entity. TypeScript checks the first three names of a path.
 *
 * @typeParam M The model.
 */
export type Query<M> = QueryFields<M> & QueryClauses<M>;

/** @internal The conditions of a filter, by the path of the field. */
export type QueryFields<M> = {
  readonly [P in Path<M>]?: Condition<At<M, P>>;
};

/**
 * Operators that join filters.
 *
 * @typeParam M The model.
 */
export interface QueryClauses<M> {
  /** The entity matches all filters. */
  readonly $and?: readonly Query<M>[];
  /** The entity matches at least one filter. */
  readonly $or?: readonly Query<M>[];
  /** The entity matches no filter. */
  readonly $nor?: readonly Query<M>[];
}

/**
 * A condition on a field, which is a value or an object of operators.
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

/** @internal The operators that a condition on a field of type `V` can have. */
export type Operators<V> =
  & Comparisons<V, Compared<Item<V>>>
  & ([Item<V>] extends [string] ? TextOperators : unknown)
  & ([Item<V>] extends [number] ? NumberOperators : unknown)
  & (IsList<V> extends true ? ListOperators<Item<V>> : unknown);

/**
 * Operators for every field.
 *
 * @typeParam V The TypeScript type of the field.
 * @typeParam C The type of the values with which the field can be compared.
 */
export interface Comparisons<V, C> {
  /** The field equals this value. */
  readonly $eq?: C | null;
  /** The field does not equal this value. */
  readonly $ne?: C | null;
  /** The field is greater than this value. */
  readonly $gt?: C;
  /** The field is greater than or equal to this value. */
  readonly $gte?: C;
  /** The field is less than this value. */
  readonly $lt?: C;
  /** The field is less than or equal to this value. */
  readonly $lte?: C;
  /** The field equals one of these values. */
  readonly $in?: readonly (C | null)[];
  /** The field equals none of these values. */
  readonly $nin?: readonly (C | null)[];
  /** `true` if the field must exist in the stored entity, `false` if the field must be missing. */
  readonly $exists?: boolean;
  /** The BSON type of the stored value, as its name or number, or a list of allowed types. */
  readonly $type?: string | number | readonly (string | number)[];
  /** The field does not match these operators. */
  readonly $not?: Operators<V>;
}

/** Operators for strings. */
export interface TextOperators {
  /** The field matches this regular expression. */
  readonly $regex?: string;
  /** The flags of `$regex`, which are letters of `imsx`. */
  readonly $options?: string;
}

/** Operators for numbers, and for lists of numbers that are coordinates. */
export interface NumberOperators {
  /** A divisor and a remainder. The field divided by the divisor has this remainder. */
  readonly $mod?: readonly [number, number];
  /** The coordinates are near this point. */
  readonly $near?: object;
  /** The coordinates are near this point on a sphere. */
  readonly $nearSphere?: object;
  /** The smallest distance from the point of `$near` or `$nearSphere`. */
  readonly $minDistance?: number;
  /** The largest distance from the point of `$near` or `$nearSphere`. */
  readonly $maxDistance?: number;
  /** The coordinates are inside this area. */
  readonly $geoWithin?: object;
}

/**
 * Operators for lists.
 *
 * @typeParam I The TypeScript type of an element.
 */
export interface ListOperators<I> {
  /** The list contains all these values. */
  readonly $all?: readonly Compared<I>[];
  /** The number of elements of the list. */
  readonly $size?: number;
  /** At least one element matches all these conditions. */
  readonly $elemMatch?: I extends FrameworkModel ? Query<Omit<I, "__v">> : Operators<I>;
}

/** @internal The type of the values with which a field of type `I` can be compared. */
export type Compared<I> = I extends boolean ? boolean
  : I extends string | number ? Literals<Bare<I>>
  : I extends bigint ? bigint | number | string
  : I extends Date ? Date | string
  : I extends { readonly _bsontype: "Decimal128" } ? string | number
  : I extends Uint8Array | { readonly _bsontype: string } ? string
  : never;

/**
 * @internal The type of the elements of a list. Other types are unchanged, except that `null` and `undefined` are
 * removed.
 */
export type Item<V> = NonNullable<V> extends readonly (infer I)[] ? NonNullable<I> : NonNullable<V>;

/** @internal Whether a field of type `V` is a list. */
export type IsList<V> = [NonNullable<V>] extends [readonly unknown[]] ? true : false;

/** @internal Whether a field of type `I` is a free-form object, whose conditions TypeScript does not check. */
export type IsFree<I> = [I] extends [Scalar | FrameworkModel | ReadonlyMap<string, unknown>] ? false
  : [I] extends [object] ? true
  : false;

/** @internal The paths of the fields of `M`. The length of `D` is the number of names before the present one. */
export type Path<M, D extends readonly 0[] = []> = {
  [K in keyof Json<M> & keyof M & string]: K | `${K}.${Below<Item<M[K]>, D>}`;
}[keyof Json<M> & keyof M & string];

/** @internal The rest of a path inside a value of type `I`. After three names, the rest is any string. */
export type Below<I, D extends readonly 0[]> = I extends Scalar ? never
  : I extends ReadonlyMap<string, unknown> ? string
  : I extends FrameworkModel ? D["length"] extends 2 ? string : Path<Omit<I, "__v">, [...D, 0]>
  : I extends object ? string
  : never;

/** @internal The type of the field of `M` at the path `P`. */
export type At<M, P> = P extends keyof M ? M[P]
  : P extends `${infer K}.${infer R}` ? K extends keyof M ? Inside<Item<M[K]>, R> : unknown
  : unknown;

/** @internal The type of the field at the path `R` inside a value of type `I`. */
export type Inside<I, R> = I extends ReadonlyMap<string, infer X> ? X
  : I extends FrameworkModel ? At<I, R>
  : unknown;
