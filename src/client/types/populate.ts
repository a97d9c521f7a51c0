import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { AnyIdentifier } from "../../declare/model/field_names.ts";
import type { Json, JsonValue } from "./json.ts";
import type { ElementOf, FieldName, IsExact } from "./select.ts";

/**
 * The references that are replaced by entities: names, or an object that says which fields the server shows of them.
 *
 * @typeParam M The model.
 */
export type Populate<M> =
  | readonly PopulateName<M>[]
  | { readonly [K in PopulateName<M>]?: true | readonly TargetField<ModelIn<NonNullable<M[K]>>>[] };

/** @internal The names of references. */
export type PopulateName<M> = {
  [K in FieldName<M> & keyof M]: K extends "_id" | "__v" ? never
    : [NonNullable<M[K]> extends readonly (infer I)[] ? I : NonNullable<M[K]>] extends
      [AnyIdentifier] ? K
    : never;
}[FieldName<M> & keyof M];

/** @internal The names of the fields of an entity, or any name if its model is not known. */
export type TargetField<T> = unknown extends T ? string : FieldName<T>;

/** @internal Names that are no references. */
export type NoOthers<M, P> = P extends readonly unknown[] ? unknown
  : { readonly [K in Exclude<keyof P, PopulateName<M>>]: never };

/** @internal The names in the option `populate`. */
export type PopulatedNames<P> = P extends readonly unknown[] ? ElementOf<P> : keyof P;

/** @internal The value of a populated field. An entity that is gone is `null`, and left out of a list. */
export type PopulatedValue<V, P, K> =
  | (V extends null | undefined ? V
    : V extends readonly unknown[] ? PopulatedEntity<ModelIn<V>, FieldsOf<P, K>>[]
    : PopulatedEntity<ModelIn<V>, FieldsOf<P, K>> | null)
  | (IsExact<P> extends true ? never : JsonValue<V>);

/** @internal The fields that the server shows. */
export type FieldsOf<P, K> = P extends readonly unknown[] ? true : K extends keyof P ? P[K] : true;

/** @internal The entity in the place of an identifier. */
export type PopulatedEntity<T, F> = unknown extends T ? UnknownEntity
  : F extends readonly (infer N)[] ? Pick<Json<T>, keyof Json<T> & ("_id" | N)>
  : Json<T>;

/** An entity whose model is not known, because the field that refers to it is no `Ref`. */
export interface UnknownEntity {
  /** The identifier. */
  readonly _id: string;
  /** Its fields. */
  readonly [field: string]: unknown;
}
