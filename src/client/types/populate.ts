import type { ModelIn } from "../../declare/decorators/rest.ts";
import type { AnyIdentifier } from "../../declare/model/field_names.ts";
import type { Json, JsonValue } from "./json.ts";
import type { ElementOf, FieldName, IsExact } from "./select.ts";

/**
 * @internal The option `populate`, which lists the references that the server replaces by entities. An object instead
 * of a list also names the fields that the server shows of each entity.
 *
 * @typeParam M The model.
 */
export type Populate<M> =
  | readonly PopulateName<M>[]
  | { readonly [K in PopulateName<M>]?: true | readonly TargetField<ModelIn<NonNullable<M[K]>>>[] };

/**
 * @internal The names of the fields that refer to entities by their identifiers. Only these names compile in
 * `populate`.
 */
export type PopulateName<M> = {
  [K in FieldName<M> & keyof M]: K extends "_id" | "__v" ? never
    : [NonNullable<M[K]> extends readonly (infer I)[] ? I : NonNullable<M[K]>] extends
      [AnyIdentifier] ? K
    : never;
}[FieldName<M> & keyof M];

/**
 * @internal The names of the fields that `populate` can list for a reference. Any string compiles if the type of the
 * reference does not name its model.
 */
export type TargetField<T> = unknown extends T ? string : FieldName<T>;

/**
 * @internal A type of `ReadCallOptions` that makes a name in `populate` a compile-time error, if it is no reference.
 */
export type NoOthers<M, P> = P extends readonly unknown[] ? unknown
  : { readonly [K in Exclude<keyof P, PopulateName<M>>]: never };

/**
 * @internal The names in the option `populate` of type `P`, whose fields have entities instead of identifiers in the
 * answer.
 */
export type PopulatedNames<P> = P extends readonly unknown[] ? ElementOf<P> : keyof P;

/**
 * @internal The value of a populated field. If the entity no longer exists, the value is `null`. A list leaves such
 * entities out. If TypeScript cannot see the elements of `populate`, the value may also be an identifier.
 */
export type PopulatedValue<V, P, K> = IsExact<P> extends true
  ? Extract<V, null | undefined> | Referred<NonNullable<V>, FieldsOf<P, K>>
  : Extract<V, null | undefined> | Referred<NonNullable<V>, FieldsOf<P, K>> | JsonValue<V>;

/** @internal The entity or the list of entities that a reference of the type `V` names, with the fields `F`. */
export type Referred<V, F> = V extends readonly unknown[] ? PopulatedEntity<ModelIn<V>, F>[]
  : PopulatedEntity<ModelIn<V>, F> | null;

/** @internal The fields that `populate` names for the reference `K`, or `true` for all fields. */
export type FieldsOf<P, K> = P extends readonly unknown[] ? true : K extends keyof P ? P[K] : true;

/** @internal The JSON of a populated entity of the model `T` with the fields `F` and `_id`. */
export type PopulatedEntity<T, F> = unknown extends T ? UnknownEntity
  : F extends readonly (infer N)[] ? Pick<Json<T>, keyof Json<T> & ("_id" | N)>
  : Json<T>;

/**
 * @internal A populated entity whose model TypeScript does not know, because the type of the reference is not a `Ref`. The
 * application must check the types of its fields.
 */
export interface UnknownEntity {
  /** The identifier of the entity, which every populated entity has. */
  readonly _id: string;
  /**
   * Any field of the entity other than `_id`. TypeScript does not know its type, so the application must check the
   * value.
   */
  readonly [field: string]: unknown;
}
