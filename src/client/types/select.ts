import type { Scalar } from "../../declare/model/field_names.ts";
import type { Json, JsonValue, Shown } from "./json.ts";
import type { PopulatedNames, PopulatedValue } from "./populate.ts";

/** @internal */
export type FieldName<M> = keyof Json<M> & string;

/** The names by which a list can be sorted. A `-` before a name means descending. */
export type SortName<M> = SortField<M> | `-${SortField<M>}`;

/** @internal */
export type SortField<M> = {
  [K in FieldName<M> & keyof M]: K extends "__v" ? never
    : [NonNullable<M[K]>] extends [Scalar] ? K
    : never;
}[FieldName<M> & keyof M];

/** @internal */
export type DateName<M> = {
  [K in FieldName<M> & keyof M]: [NonNullable<M[K]>] extends [Date | readonly Date[]] ? K : never;
}[FieldName<M> & keyof M];

/**
 * The JSON of an entity in an answer.
 *
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export type Answer<M, S = never, P = never, R = never> = [S] extends [never] ? Whole<M, P, R>
  : Chosen<Whole<M, P, R>, S>;

/** @internal If TypeScript cannot see the elements of `select`, every property except `_id` may be missing. */
export type Chosen<J, S> = S extends readonly (infer N)[]
  ? number extends S["length"] ? Pick<J, keyof J & "_id"> & Partial<Pick<J, keyof J & N>>
  : Pick<J, keyof J & ("_id" | N)>
  : never;

/** @internal */
export type Whole<M, P, R> = [P, R] extends [never, never] ? Json<M> : Populated<M, P, R>;

/**
 * The JSON of an entity, with the entities of `populate` and the dates of `revive`.
 *
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export type Populated<M, P, R = never> = {
  [K in keyof M as Shown<M, K>]: K extends PopulatedNames<P> ? PopulatedValue<M[K], P, K>
    : K extends ElementOf<R> ? Revived<M[K]> | (IsExact<R> extends true ? never : JsonValue<M[K]>)
    : JsonValue<M[K]>;
};

/** @internal */
export type Revived<V> = V extends null | undefined ? V
  : V extends readonly unknown[] ? Date[]
  : Date;

/** @internal */
export type ElementOf<L> = L extends readonly (infer N)[] ? N : never;

/** @internal Whether TypeScript sees each element of a list, as in a literal. A `string[]` may have any elements. */
export type IsExact<L> = L extends readonly unknown[] ? number extends L["length"] ? false : true
  : true;
