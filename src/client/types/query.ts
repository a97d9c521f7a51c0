import type { Literals } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { IsDateOnly, Scalar } from "../../declare/model/field_names.ts";
import type { Bare, Json } from "./json.ts";
import type { SortField } from "./select.ts";

/**
 * A filter with conditions on fields, and clauses such as `$or`, which the client sends as the parameter `q`.
 *
 * The path `"address.city"` names a field of an embedded entity, and `"author.name"` a field behind a `Ref`, if the
 * server lists the path. TypeScript checks the first three names of a path. A filter with the value `undefined`, or
 * with an object of a class without `toJSON`, throws a `TypeError`, because JSON would drop the condition.
 */
export type Query<M> = QueryFields<M> & QueryClauses<M>;

/** @internal */
export type QueryFields<M> = {
  readonly [P in Path<M>]?: Condition<At<M, P>>;
};

/** @internal */
export interface QueryClauses<M> {
  /** Filters that an entity must all match. */
  readonly $and?: readonly Query<M>[];
  /** Filters, at least one of which an entity must match. */
  readonly $or?: readonly Query<M>[];
  /** Filters that an entity must not match. */
  readonly $nor?: readonly Query<M>[];
}

/** @internal A value that the field must equal, or an object of operators. */
export type Condition<V> = unknown extends V ? unknown
  : IsFree<Item<V>> extends true ? object | null
  :
    | Compared<Item<V>>
    | (IsList<V> extends true ? readonly Compared<Item<V>>[] : never)
    | null
    | Operators<V>;

/** @internal */
export type Operators<V> =
  & Comparisons<V, Compared<Item<V>>>
  & ([Item<V>] extends [string] ? TextOperators : unknown)
  & ([Item<V>] extends [number] ? NumberOperators : unknown)
  & (IsList<V> extends true ? ListOperators<Item<V>> : unknown);

/** @internal */
export interface Comparisons<V, C> {
  /** The value that the field, or an element of a list field, must equal. */
  readonly $eq?: C | null;
  /** The value that the field must not equal. Entities without the field match too, unless the value is `null`. */
  readonly $ne?: C | null;
  /** The limit that the field must exceed. */
  readonly $gt?: C;
  /** The lower limit, which is included. */
  readonly $gte?: C;
  /** The limit that the field must stay below. */
  readonly $lt?: C;
  /** The upper limit, which is included. */
  readonly $lte?: C;
  /** Values, one of which the field, or an element of a list field, must equal. */
  readonly $in?: readonly (C | null)[];
  /**
   * The values that the field must not equal. Entities without the field match too, unless the values contain `null`.
   */
  readonly $nin?: readonly (C | null)[];
  /** Whether the stored entity must have the field. */
  readonly $exists?: boolean;
  /** The BSON type of the stored value, by name or number, or a list of allowed types. */
  readonly $type?: string | number | readonly (string | number)[];
  /** The operators that the field must not match. Entities without the field match too. */
  readonly $not?: Operators<V>;
}

/** @internal */
export interface TextOperators {
  /** The regular expression that the string must match, without slashes. */
  readonly $regex?: string;
  /** The flags of `$regex`, which are letters of `imsx`. */
  readonly $options?: string;
}

/** @internal The operators for numbers, and for lists of numbers, which can be the coordinates of a place. */
export interface NumberOperators {
  /** A divisor and the remainder of the field. */
  readonly $mod?: readonly [number, number];
  /** The point near which the coordinates must be, as GeoJSON in `{ $geometry: … }` or as two numbers. */
  readonly $near?: object;
  /** Like `$near`, with distances on a sphere instead of a plane. */
  readonly $nearSphere?: object;
  /** The smallest distance from the point. */
  readonly $minDistance?: number;
  /** The largest distance from the point. */
  readonly $maxDistance?: number;
  /** The area that must contain the coordinates, such as a GeoJSON polygon in `{ $geometry: … }`. */
  readonly $geoWithin?: object;
}

/** @internal */
export interface ListOperators<I> {
  /** The values that the list must contain, in any order. */
  readonly $all?: readonly Compared<I>[];
  /** The number of elements of the list. */
  readonly $size?: number;
  /** The conditions that at least one element must all match. */
  readonly $elemMatch?: I extends FrameworkModel ? Query<Omit<I, "__v">> : Operators<I>;
}

/** @internal The values with which a condition can compare a field of type `I`, as a date with a string. */
export type Compared<I> = I extends boolean ? boolean
  : I extends string | number ? Literals<Bare<I>>
  : I extends bigint ? bigint | number | string
  : I extends Date ? IsDateOnly<I> extends true ? string : Date | string
  : I extends { readonly _bsontype: "Decimal128" } ? string | number
  : I extends Uint8Array | { readonly _bsontype: string } ? string
  : never;

/** @internal The type of a field or, for a list, of its elements, because a condition on a list compares these. */
export type Item<V> = NonNullable<V> extends readonly (infer I)[] ? NonNullable<I> : NonNullable<V>;

/** @internal */
export type IsList<V> = [NonNullable<V>] extends [readonly unknown[]] ? true : false;

/** @internal Whether a field is a free-form object, whose keys are not declared. */
export type IsFree<I> = [I] extends [Scalar | FrameworkModel | ReadonlyMap<string, unknown>] ? false
  : [I] extends [object] ? true
  : false;

/**
 * @internal The paths of the fields of `M`. A class that embeds itself has paths without end, so the type ends after
 * three names, which the length of `D` counts.
 */
export type Path<M, D extends readonly 0[] = []> = {
  [K in keyof Json<M> & keyof M & string]: K | `${K}.${Below<Item<M[K]>, D>}`;
}[keyof Json<M> & keyof M & string];

/** @internal The rest of a path below a field of type `I`, which is any string after three names. */
export type Below<I, D extends readonly 0[]> = I extends Scalar ? BelowReference<I>
  : I extends ReadonlyMap<string, unknown> ? string
  : I extends FrameworkModel ? D["length"] extends 2 ? string : Path<Omit<I, "__v">, [...D, 0]>
  : I extends object ? string
  : never;

/** @internal The rest of a path after a `Ref`, such as `name` in `author.name`. */
export type BelowReference<I> = "~ref" extends keyof I
  ? I extends { readonly "~ref"?: infer M } ? SortField<M> | BelowPart<M> : never
  : never;

/**
 * @internal The paths below a `Ref` into embedded entities of `M`, such as `address.city` in `author.address.city`.
 * Longer paths do not compile.
 */
export type BelowPart<M> = {
  [K in keyof M & string]: NonNullable<M[K]> extends FrameworkModel
    ? `${K}.${SortField<NonNullable<M[K]>>}`
    : never;
}[keyof M & string];

/** @internal */
export type At<M, P> = P extends keyof M ? M[P]
  : P extends `${infer K}.${infer R}` ? K extends keyof M ? Inside<Item<M[K]>, R> : unknown
  : unknown;

/** @internal The type at the path `R` inside a value of type `I`, which is `unknown` below undeclared keys. */
export type Inside<I, R> = I extends ReadonlyMap<string, infer X> ? X
  : I extends FrameworkModel ? At<I, R>
  : I extends { readonly "~ref"?: infer M } ? At<M, R>
  : unknown;
