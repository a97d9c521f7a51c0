import type { InWords } from "../decorators/prop_input.ts";
import type { ModelIn } from "../decorators/rest.ts";
import type { FrameworkModel } from "./framework_model.ts";

/** @internal */
export type FieldUse =
  | ("sort" | "select" | "search" | "populate" | "filter" | "set" | "key")
  | ("group" | "unit" | "sum" | "avg");

/**
 * @internal The names of the fields that an option for the use `U`, such as `"sort"`, can list. If the model is not
 * known, every string is accepted.
 */
export type FieldNames<U extends FieldUse, M> = IsKnown<M> extends false ? string
  : U extends "filter" ? FilterPath<M>
  : { [K in keyof M]-?: [NameProblem<U, M, K>] extends [never] ? K : never }[keyof M] & string;

/** @internal */
export type IsKnown<M> = unknown extends M ? false : "~unnamed" extends keyof M ? false : true;

/** @internal */
export type NameProblem<U extends FieldUse, M, K extends keyof M> = K extends UndeclaredUse[U]
  ? `${U} takes declared fields, ${K} is none`
  : FieldProblem<U, K extends string ? K : "this", NonNullable<M[K]>>;

/**
 * All classes have `_id` and `__v` without declaring them. This table says which of the two an option, such as `sort`,
 * cannot list.
 */
type UndeclaredUse =
  & { sort: "__v"; select: never; filter: never; key: "__v" }
  & Record<"search" | "populate" | "set" | "group" | "unit" | "sum" | "avg", "_id" | "__v">;

type FieldProblem<U extends FieldUse, K extends string, V> = 0 extends 1 & V ? never
  : IsHidden<V> extends true ? U extends "set" ? never : `${K} is hidden`
  : [V] extends [(...args: never) => unknown] ? `${U} takes fields, ${K} is a method`
  : U extends "sort" | "key" | "group" ? [V] extends [Scalar] ? never
    : `${U} takes no lists and no objects, ${K} is ${InWords<V>}`
  : U extends "set" ? IsReadOnly<V> extends true ? `${K} is readonly` : never
  : U extends "unit" ? [V] extends [Date] ? never : `a unit is for dates, ${K} is ${InWords<V>}`
  : U extends "sum" | "avg"
    ? [V] extends [number | bigint | { readonly _bsontype: "Decimal128" }] ? never
    : `${U} takes numbers, ${K} is ${InWords<V>}`
  : U extends "search" ? [V] extends [string] ? never
    : `search takes fields that are strings, ${K} is ${InWords<V>}`
  : U extends "populate"
    ? [V extends readonly (infer I)[] ? NonNullable<I> : V] extends [AnyIdentifier] ? never
    : `populate takes references, ${K} is ${InWords<V>}`
  : never;

/**
 * The paths that the option `filter` can list. After three names, a path is not checked, because models can embed
 * themselves and the type would be infinite.
 */
type FilterPath<M, D extends readonly 0[] = []> = {
  [K in keyof M & string]-?: [FieldProblem<"filter", K, NonNullable<M[K]>>] extends [never]
    ? K | `${K}.${PathBelow<NonNullable<M[K]>, D>}`
    : never;
}[keyof M & string];

type PathBelow<V, D extends readonly 0[]> = V extends readonly (infer I)[]
  ? PathBelow<NonNullable<I>, D>
  : V extends Scalar ? ReferredPath<V>
  : V extends ReadonlyMap<string, unknown> ? string
  : V extends FrameworkModel ? D["length"] extends 2 ? string : FilterPath<V, [...D, 0]>
  : V extends object ? string
  : never;

/** The paths of single values in the entities to which a `Ref` refers, with at most two names below the reference. */
type ReferredPath<V> = "~ref" extends keyof V
  ? V extends { readonly "~ref"?: infer M } ? FieldNames<"sort", M> | PathInPart<M> : never
  : never;

/** The paths of single values in entities that `M` embeds, such as `address.city`, without lists. */
type PathInPart<M> = {
  [K in keyof M & string]-?: NonNullable<M[K]> extends FrameworkModel
    ? `${K}.${FieldNames<"sort", NonNullable<M[K]>>}`
    : never;
}[keyof M & string];

/** @internal */
export type NamedFilter<M, S> = [UndeclaredIn<M, S>] extends [never] ? S
  : `the class has no ${UndeclaredIn<M, S>}`;

/** The names in the filter `S`, also inside `$or` and `$elemMatch`, that are no fields of the model `M`. */
type UndeclaredIn<M, S> = IsKnown<M> extends false ? never
  : 0 extends 1 & S ? never
  : S extends Promise<infer T> ? UndeclaredIn<M, T>
  : S extends object ? {
      [K in keyof S & string]: string extends K ? never
        : K extends "$or" | "$and" | "$nor" ? UndeclaredInClauses<M, S[K]>
        : Undeclared<M, K> | (K extends keyof M ? UndeclaredInElements<K, M[K], S[K]> : never);
    }[keyof S & string]
  : never;

type UndeclaredInClauses<M, L> = L extends readonly (infer S)[] ? UndeclaredIn<M, S> : never;

/** The undeclared paths inside the `$elemMatch` of the condition `C` on the array `K`. */
type UndeclaredInElements<K extends string, V, C> = V extends readonly (infer M)[]
  ? C extends { readonly $elemMatch: infer S }
    ? M extends FrameworkModel ? `${K}.${UndeclaredIn<M, S>}` : never
  : C extends { readonly $not: infer N } ? UndeclaredInElements<K, V, N>
  : never
  : never;

type Undeclared<M, K extends string> = K extends `$${string}` ? never
  : K extends `${infer Name}.${infer Rest}`
    ? Name extends keyof M ? UndeclaredBelow<NonNullable<M[Name]>, { whole: K; rest: Rest }> : K
  : K extends keyof M ? never
  : K;

type UndeclaredBelow<V, P extends { whole: string; rest: string }> = 0 extends 1 & V ? never
  : V extends readonly (infer I)[] ? UndeclaredBelow<
      NonNullable<I>,
      P["rest"] extends `${number}.${infer R}` ? { whole: P["whole"]; rest: R } : P
    >
  : V extends FrameworkModel ? P["rest"] extends `${number}` ? never
    : [Undeclared<V, P["rest"]>] extends [never] ? never
    : P["whole"]
  : never;

/** @internal */
export type IsHidden<V> = "~hidden" extends keyof V ? string extends keyof V ? false : true : false;

/** @internal */
export type IsReadOnly<V> = "~readonly" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal */
export type IsDefaulted<V> = "~default" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal */
export type IsDateOnly<V> = "~dateOnly" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal */
export type IsRestricted<V> = "~restricted" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal */
export type AnyIdentifier =
  | string
  | number
  | bigint
  | Uint8Array
  | { readonly _bsontype: string };

/** @internal */
export type Scalar = AnyIdentifier | boolean | Date;

/** @internal */
export type TargetOf<M, K> = K extends keyof M ? ModelIn<NonNullable<M[K]>> : unknown;
