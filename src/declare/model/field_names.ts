import type { InWords } from "../decorators/prop_input.ts";
import type { ModelIn } from "../decorators/rest.ts";

/** @internal What clients can use a field for. */
export type FieldUse = "sort" | "select" | "search" | "populate";

/** @internal The names of the fields of a model that clients can use so: any name if the model is not known. */
export type FieldNames<U extends FieldUse, M> = IsKnown<M> extends false ? string
  : { [K in keyof M]-?: [NameProblem<U, M, K>] extends [never] ? K : never }[keyof M] & string;

/** @internal Whether `M` is a model whose fields are known. */
export type IsKnown<M> = unknown extends M ? false : "~unnamed" extends keyof M ? false : true;

/** @internal Why clients cannot use the field of that name so, or `never`. */
export type NameProblem<U extends FieldUse, M, K extends keyof M> = K extends UndeclaredUse[U]
  ? `${U} takes declared fields, ${K} is none`
  : FieldProblem<U, K extends string ? K : "this", NonNullable<M[K]>>;

/** The fields that the framework adds and that clients cannot use so. */
type UndeclaredUse = { sort: "__v"; select: never; search: "_id" | "__v"; populate: "_id" | "__v" };

type FieldProblem<U extends FieldUse, K extends string, V> = 0 extends 1 & V ? never
  : IsHidden<V> extends true ? `${K} is hidden`
  : [V] extends [(...args: never) => unknown] ? `${U} takes fields, ${K} is a method`
  : U extends "sort" ? [V] extends [Scalar] ? never
    : `sort takes no lists and no objects, ${K} is ${InWords<V>}`
  : U extends "search" ? [V] extends [string] ? never
    : `search takes fields that are strings, ${K} is ${InWords<V>}`
  : U extends "populate"
    ? [V extends readonly (infer I)[] ? NonNullable<I> : V] extends [AnyIdentifier] ? never
    : `populate takes references, ${K} is ${InWords<V>}`
  : never;

/** @internal Whether a value is `Hidden`. */
export type IsHidden<V> = "~hidden" extends keyof V ? string extends keyof V ? false : true : false;

/** @internal Whether a value is `ReadOnly`. */
export type IsReadOnly<V> = "~readonly" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal Whether a value is `Restricted`. */
export type IsRestricted<V> = "~restricted" extends keyof V ? string extends keyof V ? false : true
  : false;

/** @internal An identifier of any type. */
export type AnyIdentifier =
  | string
  | number
  | bigint
  | Uint8Array
  | { readonly _bsontype: string };

/** @internal A value that MongoDB can sort by. */
export type Scalar = AnyIdentifier | boolean | Date;

/** @internal The model that the field of that name refers to, or `unknown`. */
export type TargetOf<M, K> = K extends keyof M ? ModelIn<NonNullable<M[K]>> : unknown;
