import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { IsDateOnly, Scalar } from "../../declare/model/field_names.ts";
import type { Bare, Json } from "./json.ts";
import type { SortField } from "./select.ts";

/**
 * A filter, which the client sends as the parameter `q`. A filter has conditions on fields, and clauses such as `$or`.
 *
 * A filter with the value `undefined`, or with an object of a class without `toJSON`, throws a `TypeError`. JSON would
 * drop the condition, and the filter would select more entities. A path such as `"address.city"` names a field of an
 * embedded entity. A path such as `"author.name"` names a field of the entity to which a `Ref` refers, if the server
 * lists the path. TypeScript checks the first three names of a path, because the paths of a class that embeds itself
 * have no end.
 *
 * @typeParam M The model.
 */
export type Query<M> = QueryFields<M> & QueryClauses<M>;

/**
 * @internal The conditions on fields in a filter, without clauses such as `$or`. A key is the path of a field, and a
 * path that `M` does not have does not compile.
 */
export type QueryFields<M> = {
  readonly [P in Path<M>]?: Condition<At<M, P>>;
};

/**
 * @internal The operators in a filter that join several filters into one filter, such as `$or`.
 *
 * @typeParam M The model.
 */
export interface QueryClauses<M> {
  /** Filters that an entity must all match, for example several filters with `$or`. */
  readonly $and?: readonly Query<M>[];
  /** Filters, at least one of which an entity must match. */
  readonly $or?: readonly Query<M>[];
  /** The filters that exclude entities. An entity that matches one of them is not selected. */
  readonly $nor?: readonly Query<M>[];
}

/**
 * @internal A condition on a field in a filter. A condition is a value that the field must equal, or an object of
 * operators.
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

/**
 * @internal The operators that a condition on a field of type `V` can have. An operator that does not fit the type of
 * the field does not compile.
 */
export type Operators<V> =
  & Comparisons<V, Compared<Item<V>>>
  & ([Item<V>] extends [string] ? TextOperators : unknown)
  & ([Item<V>] extends [number] ? NumberOperators : unknown)
  & (IsList<V> extends true ? ListOperators<Item<V>> : unknown);

/**
 * @internal The operators that a condition on any field can have, such as `$in`, in addition to the operators for
 * texts, numbers and lists.
 *
 * @typeParam V The TypeScript type of the field.
 * @typeParam C The type of the values with which the field can be compared.
 */
export interface Comparisons<V, C> {
  /** The value that the field must equal. A list field matches if one of its elements equals the value. */
  readonly $eq?: C | null;
  /** The value that the field must not equal. Entities without the field match too, except if the value is `null`. */
  readonly $ne?: C | null;
  /** The lower limit of the field. A field that equals the limit does not match. */
  readonly $gt?: C;
  /** The lower limit of the field. A field that equals the limit matches. */
  readonly $gte?: C;
  /** The upper limit of the field. A field that equals the limit does not match. */
  readonly $lt?: C;
  /** The upper limit of the field. A field that equals the limit matches. */
  readonly $lte?: C;
  /** Values, one of which the field must equal. A list field matches if one of its elements equals one of them. */
  readonly $in?: readonly (C | null)[];
  /**
   * The values that the field must not equal. Entities without the field match too, except if `null` is one of the
   * values.
   */
  readonly $nin?: readonly (C | null)[];
  /** `true` if the field must exist in the stored entity, `false` if the field must be missing. */
  readonly $exists?: boolean;
  /** The BSON type of the stored value, as its name or number, or a list of allowed types. */
  readonly $type?: string | number | readonly (string | number)[];
  /** The operators that the field must not match. Entities without the field are selected too. */
  readonly $not?: Operators<V>;
}

/** @internal The operators that a condition on a text field can have in addition to the operators of all fields. */
export interface TextOperators {
  /** The regular expression that the text of the field must match, as a string without slashes. */
  readonly $regex?: string;
  /** The flags of `$regex`, which are letters of `imsx`. */
  readonly $options?: string;
}

/**
 * @internal The operators that a condition on a number field can have in addition to `Comparisons`. A list of numbers
 * has these operators too, because it can be the coordinates of a place.
 */
export interface NumberOperators {
  /** A divisor and a remainder. The field divided by the divisor has this remainder. */
  readonly $mod?: readonly [number, number];
  /** The point near which the coordinates must be, as GeoJSON in `{ $geometry: … }` or as a list of two numbers. */
  readonly $near?: object;
  /** The point near which the coordinates must be, with distances on a sphere instead of a plane. */
  readonly $nearSphere?: object;
  /** The smallest distance from the point of `$near` or `$nearSphere`. */
  readonly $minDistance?: number;
  /** The largest distance from the point of `$near` or `$nearSphere`. */
  readonly $maxDistance?: number;
  /** The area in which the coordinates must be, for example a GeoJSON polygon in `{ $geometry: … }`. */
  readonly $geoWithin?: object;
}

/**
 * @internal The operators that a condition on a list field can have in addition to `Comparisons`.
 *
 * @typeParam I The TypeScript type of an element.
 */
export interface ListOperators<I> {
  /** The values that the list must all contain, in any order. */
  readonly $all?: readonly Compared<I>[];
  /** The exact number of elements that the list must have. */
  readonly $size?: number;
  /** The conditions that at least one element of the list must all match. */
  readonly $elemMatch?: I extends FrameworkModel ? Query<Omit<I, "__v">> : Operators<I>;
}

/**
 * @internal The type of the values with which a condition can compare a field of type `I`. For example, a date can be
 * compared with a `Date` or with text.
 */
export type Compared<I> = I extends boolean ? boolean
  : I extends string | number ? Literals<Bare<I>>
  : I extends bigint ? bigint | number | string
  : I extends Date ? IsDateOnly<I> extends true ? string : Date | string
  : I extends { readonly _bsontype: "Decimal128" } ? string | number
  : I extends Uint8Array | { readonly _bsontype: string } ? string
  : never;

/**
 * @internal The type of the elements of a list field, because a condition on a list compares its elements. For other
 * fields, the type is that of the field without `null` and `undefined`.
 */
export type Item<V> = NonNullable<V> extends readonly (infer I)[] ? NonNullable<I> : NonNullable<V>;

/** @internal Whether a field of type `V` is a list, so that its conditions can have `ListOperators`. */
export type IsList<V> = [NonNullable<V>] extends [readonly unknown[]] ? true : false;

/**
 * @internal Whether a field of type `I` is a free-form object. TypeScript does not check conditions on such a field,
 * because its keys are not declared.
 */
export type IsFree<I> = [I] extends [Scalar | FrameworkModel | ReadonlyMap<string, unknown>] ? false
  : [I] extends [object] ? true
  : false;

/**
 * @internal The paths of the fields of `M`, which are the keys of a filter. The length of `D` counts the names before
 * the current name, so that the type ends after three names.
 */
export type Path<M, D extends readonly 0[] = []> = {
  [K in keyof Json<M> & keyof M & string]: K | `${K}.${Below<Item<M[K]>, D>}`;
}[keyof Json<M> & keyof M & string];

/**
 * @internal The rest of a path after a dot, if the field before the dot has the type `I`. After three names, the rest
 * is any string, because the paths of a class that embeds itself have no end.
 */
export type Below<I, D extends readonly 0[]> = I extends Scalar ? BelowReference<I>
  : I extends ReadonlyMap<string, unknown> ? string
  : I extends FrameworkModel ? D["length"] extends 2 ? string : Path<Omit<I, "__v">, [...D, 0]>
  : I extends object ? string
  : never;

/**
 * @internal The rest of a path after a reference, such as `name` in `author.name`, which names a single value of the
 * entity to which a `Ref` refers. The type is `never` for any other value.
 */
export type BelowReference<I> = "~ref" extends keyof I
  ? I extends { readonly "~ref"?: infer M } ? SortField<M> | BelowPart<M> : never
  : never;

/**
 * @internal The paths that `BelowReference` allows after a reference to a model `M` for the embedded entities of `M`,
 * such as `address.city` in `author.address.city`. TypeScript does not accept longer paths after a reference.
 */
export type BelowPart<M> = {
  [K in keyof M & string]: NonNullable<M[K]> extends FrameworkModel
    ? `${K}.${SortField<NonNullable<M[K]>>}`
    : never;
}[keyof M & string];

/** @internal The type of the field of `M` at the path `P`, from which a filter takes the type of the condition. */
export type At<M, P> = P extends keyof M ? M[P]
  : P extends `${infer K}.${infer R}` ? K extends keyof M ? Inside<Item<M[K]>, R> : unknown
  : unknown;

/**
 * @internal The type of the field at the path `R` inside a value of type `I`, which is `unknown` where the keys are not
 * declared.
 */
export type Inside<I, R> = I extends ReadonlyMap<string, infer X> ? X
  : I extends FrameworkModel ? At<I, R>
  : I extends { readonly "~ref"?: infer M } ? At<M, R>
  : unknown;
