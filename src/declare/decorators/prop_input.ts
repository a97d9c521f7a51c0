import type { Types } from "mongoose";
import type { FrameworkModel, ModelClass } from "../model/framework_model.ts";
import type { BrandProblem, DateOnlyProblem, RestrictedProblem } from "./brand_problems.ts";
import type { ArrayFeatures, FieldFeatures } from "../options.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, Identifier, ValueOf } from "./field_type.ts";
import type { ArrayPropOptions, PropOptions } from "./prop.ts";

/**
 * @internal The class or field that a decorator of the type `D` is applied to, or `undefined` if it is not applied yet,
 * as in a variable.
 */
export type Decorated<D> = D extends (...args: never) => infer R ? [R] extends [void] ? undefined
  : D extends (target: infer T, context: infer C) => unknown
    ? T extends abstract new () => infer M ? { readonly model: M }
    : C extends ClassFieldDecoratorContext<infer This, infer V>
      ? { readonly owner: This; readonly value: V; readonly name: NameIn<C> }
    : { readonly neither: true }
  : { readonly neither: true }
  : undefined;

type NameIn<C> = C extends { readonly name: infer N } ? N : never;

/**
 * @internal The type of the values of the decorated field. If TypeScript does not infer the field, the type is `any`,
 * which refuses no option.
 */
export type FieldValue<D> = Decorated<D> extends { readonly value: infer V }
  ? [NonNullable<V>] extends [never] ? AnyValue : NonNullable<V>
  : AnyValue;

// deno-lint-ignore no-explicit-any -- a decorator in a variable is checked where it is applied
type AnyValue = any;

/** @internal */
export type OptionIn<O, K extends string> = K extends keyof O ? O[K] : undefined;

/**
 * @internal The error text for a decorator in a wrong place, or for a field whose type, such as `Hidden`, needs an
 * option that `O` lacks. Otherwise `P`. A decorator function declares its `this` with this type. Calls have no `this`,
 * so TypeScript refuses the call and prints the text.
 */
export type FieldProblem<D, N extends string, O, P> = Decorated<D> extends infer F
  ? F extends { readonly owner: infer This } ? This extends FrameworkModel ? RestrictedProblem<
        F,
        O,
        BrandProblem<
          FieldValue<D>,
          O,
          HasKeywords<This> extends false ? P
            : F extends { readonly name: keyof This & infer K }
              ? KeywordProblem<This, K & keyof This, O, P>
            : P
        >
      >
    : `@${N} belongs to a class that extends FrameworkModel`
  : F extends undefined ? unknown
  : `@${N} belongs to a field, such as name!: string`
  : never;

/** @internal */
export type KeywordProblem<M, K extends keyof M, O, P> = OptionIn<O, "readonly"> extends true ? P
  : OptionIn<O, "stamp"> extends string ? P
  : "maxBytes" extends keyof O ? P
  : IsSame<Pick<M, K>, { -readonly [N in K]: M[N] }> extends true ? P
  : "the property is readonly: add readonly: true";

/**
 * @internal Whether any property of the class `M` has the keyword `readonly`. If none has, as in most classes, the
 * compiler need not compare each property.
 */
export type HasKeywords<M> = IsSame<
  { [N in keyof M as Exclude<N, keyof FrameworkModel>]: 0 },
  { -readonly [N in keyof M as Exclude<N, keyof FrameworkModel>]: 0 }
> extends true ? false : true;

/** Whether two types are identical, including the modifiers `readonly` and `?` of their properties. */
export type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2)
  ? true
  : false;

/** @internal */
export type InWords<V> = [V] extends [string] ? "a string"
  : [V] extends [number] ? "a number"
  : [V] extends [boolean] ? "a boolean"
  : [V] extends [bigint] ? "a bigint"
  : [V] extends [Date] ? "a Date"
  : [V] extends [Map<string, unknown>] ? "a Map"
  : [V] extends [readonly unknown[]] ? "a list"
  : [V] extends [Types.ObjectId] ? "an identifier"
  : [V] extends [FrameworkModel] ? "a model"
  : "of another type";

/** The values that `default` and `enum` accept for a field of the type `V`, such as a string for an identifier. */
type Written<V> =
  | V
  | (V extends Types.ObjectId ? Identifier
    : V extends string ? `${V}`
    : V extends number ? (`${V}` extends `${infer N extends number}` ? N : never)
    : V extends readonly (infer I)[] ? readonly Written<I>[]
    : V extends Date | bigint | boolean | Map<string, unknown> | FrameworkModel ? never
    : V extends object ? { readonly [K in keyof V]: Written<V[K]> }
    : never);

type EnumValues<E> = E extends readonly (infer X)[] ? X
  : E extends { readonly values: readonly (infer X)[] } ? X
  : E extends object ? E[keyof E]
  : never;

type CheckedEnum<I, E> = [EnumValues<E>] extends [Written<I> | null] ? NonNullable<E>
  : `enum holds what the field may not: it is ${InWords<I>}`;

type CheckedDefault<V, X, E> = X extends (...args: never) => infer R
  ? [R] extends [Written<V> | null | (V extends Date ? number : never)] ? X
  : `default gives what the field may not hold: it is ${InWords<V>}`
  : [X] extends [Written<V> | null]
    ? E extends object ? [X] extends [Written<EnumValues<E>> | null] ? X : "default is not in enum"
    : X
  : `default is what the field may not hold: it is ${InWords<V>}`;

type ModelNamed<C> = C extends ObjectConstructor ? never
  : C extends ModelClass<infer M> ? M
  : C extends () => ModelClass<infer M> ? M
  : never;

/** A `Ref` must fit the model of the option. Other identifiers name no model, so any model fits. */
type CheckedRef<N extends "ref" | "items", I, C> = [I] extends [Identifier]
  ? [ModelNamed<C>] extends [never] ? `${N} is a model class or () => Model`
  : I extends { readonly "~ref"?: infer T }
    ? T extends FrameworkModel
      ? [ModelNamed<C>] extends [T] ? C : `${N} is of another model than the field's Ref`
    : C
  : C
  : [I] extends [FrameworkModel]
    ? `${N} makes references, ${N extends "ref"
      ? "the field is a model: declare it as Ref or string, or embed it with type"
      : "the elements are models: declare them as Ref or string, or add embedded: true"}`
  : `${N} makes references, the field is ${InWords<I>}: declare it as Ref or string`;

type CheckedFlag<X, P> = [X] extends [true] ? P : boolean;

type CheckedDateOnly<I, X> = [I] extends [Date] ? boolean
  : CheckedFlag<X, `dateOnly belongs to dates, the value is ${InWords<I>}`>;

type CheckedType<V, T> = [V] extends [ValueOf<T>] ? T
  : [V] extends [readonly unknown[]] ? "the field is a list: use @arrayProp"
  : [ValueOf<T>] extends [never] ? "type is neither a class such as Number nor a model class"
  : [V] extends [Types.ObjectId] ? "the field is an identifier: say its model with ref"
  : `type says ${InWords<ValueOf<T>>}, the field is ${InWords<V>}`;

type CheckedOf<V, T> = V extends Map<string, infer X> ? unknown extends X ? T
  : [X] extends [ValueOf<T>] ? T
  : `of says ${InWords<ValueOf<T>>}, what the Map holds is ${InWords<X>}`
  : "of belongs to a Map";

type CheckedValidate<V, X> = X extends readonly (infer E)[] ? readonly CheckedSchema<V, E>[]
  : CheckedSchema<V, X>;

type CheckedSchema<V, X> = X extends {
  readonly "~standard": { readonly types?: { readonly input: infer I } | undefined };
} ? [V] extends [I] ? unknown
  : `validate is a schema for ${InWords<I>}, the field is ${InWords<V>}`
  : unknown;

/** @internal */
export type NoOtherOptions<N extends string, O, K> = {
  readonly [X in Exclude<keyof O & string, K>]: `${N} has no option ${X}`;
};

type IndependentOptions<V, I> =
  & Omit<FieldOptions<V, I>, "default" | "enum" | "dateOnly" | BoundOption | StringOption>
  & {
    readonly [K in keyof Pick<FieldOptions<V, I>, BoundOption | StringOption>]: CheckedConstraint<
      K,
      V,
      I
    >;
  };

/** @internal */
export type CheckedConstraint<K extends BoundOption | StringOption, V, I> = [I] extends
  [K extends BoundOption ? number | Date : string] ? Required<FieldOptions<V, I>>[K]
  : `${K} belongs to ${K extends BoundOption ? "numbers and dates"
    : "strings"}, the value is ${InWords<I>}`;

/** @internal */
export type BoundOption = "min" | "max";

/** @internal */
export type StringOption = "minLength" | "maxLength" | "match" | "trim" | "lowercase" | "uppercase";

/** A default such as `"open"` declares a field for any string, not only for `"open"`. */
type Widen<D> = [D] extends [string] ? string
  : [D] extends [number] ? number
  : [D] extends [boolean] ? boolean
  : [D] extends [bigint] ? bigint
  : [D] extends [Date] ? Date
  : string;

/**
 * @internal The options `O` of {@linkcode prop} on a field with values of the type `V`. A wrong option gets an error
 * text as its type.
 */
export type PropInput<V, O> =
  & IndependentOptions<V, V>
  & PropChecks<V, O>
  & NoOtherOptions<"@prop", O, keyof PropOptions<unknown>>;

/** @internal */
export interface PropChecks<V, O> extends FieldFeatures {
  readonly type?: CheckedType<V, OptionIn<O, "type">>;
  readonly dateOnly?: CheckedDateOnly<
    V extends Map<string, infer X> ? X : V,
    OptionIn<O, "dateOnly">
  >;
  readonly of?: CheckedOf<V, OptionIn<O, "of">>;
  readonly ref?: OptionIn<O, "ref"> extends string | undefined ? string | undefined
    : CheckedRef<"ref", V, OptionIn<O, "ref">>;
  readonly exists?: OptionIn<O, "ref"> extends undefined
    ? CheckedFlag<OptionIn<O, "exists">, "exists belongs to a reference: say its model with ref">
    : boolean;
  readonly unguarded?: OptionIn<O, "ref"> extends undefined ? CheckedFlag<
      OptionIn<O, "unguarded">,
      "unguarded belongs to a reference: say its model with ref"
    >
    : boolean;
  readonly enum?: CheckedEnum<V, OptionIn<O, "enum">>;
  readonly validate?: CheckedValidate<V, OptionIn<O, "validate">>;
  readonly default?: CheckedDefault<V, OptionIn<O, "default">, OptionIn<O, "enum">>;
}

type ValueOfOptions<O> = [O] extends [never] ? string
  : OptionIn<O, "type"> extends infer T
    ? [T] extends [undefined] ? OptionIn<O, "ref"> extends undefined ? Widen<OptionIn<O, "default">>
      : Identifier
    : ValueOf<T>
  : never;

/** @internal */
export type DecoratorOf<O> = FieldDecorator<ValueOfOptions<O>>;

/** @internal */
export type UntypedProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [ValueOfOptions<O>] ? unknown
  : OptionIn<O, "type" | "ref" | "default"> extends undefined
    ? [V] extends [readonly unknown[]] ? "@prop is one value, the field is a list: use @arrayProp"
    : [V] extends [Types.ObjectId] ? "the field is an identifier: say its model with ref"
    : `@prop is a string unless type says otherwise, the field is ${InWords<V>}`
  : unknown;

/** @internal */
export type ItemIn<V> = V extends readonly unknown[] ? V[number] : never;

/** @internal */
export type ArrayInput<V, O> =
  & IndependentOptions<V, ItemIn<V>>
  & ArrayChecks<V, O>
  & NoOtherOptions<"@arrayProp", O, keyof ArrayPropOptions<unknown, unknown>>;

/** @internal */
export interface ArrayChecks<V, O> extends ArrayFeatures {
  readonly dateOnly?: CheckedDateOnly<ItemIn<V>, OptionIn<O, "dateOnly">>;
  readonly items?: CheckedItems<ItemIn<V>, OptionIn<O, "items">, OptionIn<O, "embedded">>;
  readonly embedded?: [ModelNamed<OptionIn<O, "items">>] extends [never]
    ? OptionIn<O, "embedded"> extends true ? "embedded belongs to items of a model" : boolean
    : boolean;
  readonly exists?: [ModelNamed<OptionIn<O, "items">>] extends [never]
    ? CheckedFlag<OptionIn<O, "exists">, "exists belongs to references: items of a model">
    : OptionIn<O, "embedded"> extends true ? CheckedFlag<
        OptionIn<O, "exists">,
        "exists belongs to references, the items are embedded"
      >
    : boolean;
  readonly unguarded?: [ModelNamed<OptionIn<O, "items">>] extends [never]
    ? CheckedFlag<OptionIn<O, "unguarded">, "unguarded belongs to references: items of a model">
    : OptionIn<O, "embedded"> extends true ? CheckedFlag<
        OptionIn<O, "unguarded">,
        "unguarded belongs to references, the items are embedded"
      >
    : boolean;
  readonly enum?: CheckedEnum<ItemIn<V>, OptionIn<O, "enum">>;
  readonly validate?: CheckedValidate<V, OptionIn<O, "validate">>;
  readonly default?: CheckedDefault<V, OptionIn<O, "default">, undefined>;
}

type CheckedItems<I, T, E> = [ModelNamed<T>] extends [never] ? [I] extends [ValueOf<T>] ? T
  : [ValueOf<T>] extends [never] ? "items is neither a class such as Number nor a model class"
  : `items says ${InWords<ValueOf<T>>}, an element is ${InWords<I>}`
  : E extends true ? [I] extends [ModelNamed<T>] ? T
    : [I] extends [Identifier] ? "embedded stores models, an element is an identifier"
    : "items is of another model than the elements of the field"
  : CheckedRef<"items", I, T>;

/** @internal */
export type ArrayOf<O> = FieldDecorator<
  ([ModelNamed<OptionIn<O, "items">>] extends [never] ? ValueOf<OptionIn<O, "items">>
    : OptionIn<O, "embedded"> extends true ? ModelNamed<OptionIn<O, "items">>
    : Identifier)[]
>;

/** @internal */
export type ItemsProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [readonly unknown[]]
    ? OptionIn<O, "items"> extends undefined
      ? "@arrayProp needs items: a model class, () => Model or a type such as String"
    : DateOnlyProblem<ItemIn<V>, O, unknown>
  : `@arrayProp is a list, the field is ${InWords<V>}`;
