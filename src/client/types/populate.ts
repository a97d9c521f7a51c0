import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { AnyIdentifier } from "../../declare/model/field_names.ts";
import type { Json, JsonValue } from "./json.ts";
import type { ElementOf, FieldName, IsExact } from "./select.ts";

/** @internal */
export type Populate<M> =
  | readonly PopulateName<M>[]
  | ([PopulateName<M>] extends [never] ? never : {
    readonly [K in PopulateName<M>]?: true | readonly TargetField<ModelIn<NonNullable<M[K]>>>[];
  });

/** @internal */
export type PopulateName<M> = {
  [K in FieldName<M> & keyof M]: K extends "_id" | "__v" ? never
    : [NonNullable<M[K]> extends readonly (infer I)[] ? I : NonNullable<M[K]>] extends
      [AnyIdentifier] ? K
    : never;
}[FieldName<M> & keyof M];

/** @internal Any string compiles if the type of the reference does not name its model. */
export type TargetField<T> = unknown extends T ? string : FieldName<T>;

/** @internal Makes a name in `populate` that is no reference a compile error. */
export type NoOthers<M, P> = P extends readonly unknown[] ? unknown
  : { readonly [K in Exclude<keyof P, PopulateName<M>>]: never };

/** @internal */
export type PopulatedNames<P> = P extends readonly unknown[] ? ElementOf<P> : keyof P;

/**
 * @internal The value of a populated field, which is `null` if the entity no longer exists. A list leaves such entities
 * out. If TypeScript cannot see the elements of `populate`, the value may also be an identifier.
 */
export type PopulatedValue<V, P, K> = IsExact<P> extends true
  ? Extract<V, null | undefined> | Referred<NonNullable<V>, FieldsOf<P, K>>
  : Extract<V, null | undefined> | Referred<NonNullable<V>, FieldsOf<P, K>> | JsonValue<V>;

/** @internal */
export type Referred<V, F> = V extends readonly unknown[] ? PopulatedEntity<ModelIn<V>, F>[]
  : PopulatedEntity<ModelIn<V>, F> | null;

/** @internal */
export type FieldsOf<P, K> = P extends readonly unknown[] ? true : K extends keyof P ? P[K] : true;

/** @internal */
export type PopulatedEntity<T, F> = unknown extends T ? UnknownEntity
  : F extends readonly (infer N)[] ? Pick<Json<T>, keyof Json<T> & ("_id" | N)>
  : Json<T>;

/** @internal A populated entity whose model TypeScript does not know, because the reference is no `Ref`. */
export interface UnknownEntity {
  readonly _id: string;
  /** Any other field. The application must check the value. */
  readonly [field: string]: unknown;
}
