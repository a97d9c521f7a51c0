import type { Scalar } from "../../declare/model/field_names.ts";
import type { Json, JsonValue, Shown } from "./json.ts";
import type { PopulatedNames, PopulatedValue } from "./populate.ts";

/**
 * The names of the fields that an answer shows.
 *
 * @typeParam M The model.
 */
export type FieldName<M> = keyof Json<M> & string;

/**
 * The names by which a list is sorted: a `-` means descending.
 *
 * @typeParam M The model.
 */
export type SortName<M> = SortField<M> | `-${SortField<M>}`;

/** @internal The fields by which a list can be sorted: no lists and no objects. */
export type SortField<M> = {
  [K in FieldName<M> & keyof M]: K extends "__v" ? never
    : [NonNullable<M[K]>] extends [Scalar] ? K
    : never;
}[FieldName<M> & keyof M];

/**
 * The names of the fields that hold a date, or a list of dates.
 *
 * @typeParam M The model.
 */
export type DateName<M> = {
  [K in FieldName<M> & keyof M]: [NonNullable<M[K]>] extends [Date | readonly Date[]] ? K : never;
}[FieldName<M> & keyof M];

/**
 * The JSON of an entity for a client that asks for some fields, for entities in the place of identifiers, or for dates.
 *
 * @typeParam M The model.
 * @typeParam S The option `select`.
 * @typeParam P The option `populate`.
 * @typeParam R The option `revive`.
 */
export type Answer<M, S = never, P = never, R = never> = [S] extends [never]
  ? [P, R] extends [never, never] ? Json<M> : Changed<M, P, R>
  : Chosen<Changed<M, P, R>, S>;

/** @internal The chosen fields. Those of a list whose elements are not known may be missing. */
export type Chosen<J, S> = S extends readonly (infer N)[]
  ? number extends S["length"] ? Pick<J, keyof J & "_id"> & Partial<Pick<J, keyof J & N>>
  : Pick<J, keyof J & ("_id" | N)>
  : never;

/** @internal The fields, with entities and dates. */
export type Changed<M, P, R> = [P, R] extends [never, never] ? Json<M> : {
  [K in keyof M as Shown<M, K>]: K extends PopulatedNames<P> ? PopulatedValue<M[K], P, K>
    : K extends ElementOf<R> ? Revived<M[K]> | (IsExact<R> extends true ? never : JsonValue<M[K]>)
    : JsonValue<M[K]>;
};

/** @internal A date, or a list of dates. */
export type Revived<V> = V extends null | undefined ? V
  : V extends readonly unknown[] ? Date[]
  : Date;

/** @internal The elements of a list. */
export type ElementOf<L> = L extends readonly (infer N)[] ? N : never;

/** @internal Whether all elements of a list are known. */
export type IsExact<L> = L extends readonly unknown[] ? number extends L["length"] ? false : true
  : true;
