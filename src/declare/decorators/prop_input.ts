import type { Types } from "mongoose";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { ModelClass } from "../model/model_class.ts";
import type { FieldOptions } from "./field_options.ts";
import type { Identifier, ValueOf } from "./field_type.ts";

/**
 * The field that a decorator stands on, as the compiler tells it; `undefined` where it does not.
 *
 * @typeParam D The decorator, as the field wants it.
 * @internal
 */
export type FieldIn<D> = D extends (...args: never) => infer R ? [R] extends [void] ? undefined
  : D extends (value: undefined, context: infer C) => unknown
    ? C extends ClassFieldDecoratorContext<infer This, infer V>
      ? { readonly owner: This; readonly value: V }
    : { readonly neither: true }
  : { readonly neither: true }
  : undefined;

/**
 * The value of the field that a decorator stands on; `any` where the compiler does not tell.
 *
 * @typeParam D The decorator, as the field wants it.
 * @internal
 */
export type FieldValue<D> = FieldIn<D> extends { readonly value: infer V }
  ? [NonNullable<V>] extends [never] ? AnyValue : NonNullable<V>
  : AnyValue;

// deno-lint-ignore no-explicit-any -- a decorator that stands in a variable is held against its field later
type AnyValue = any;

/**
 * One of the options that were given.
 *
 * @typeParam O The options.
 * @typeParam K Its name.
 * @internal
 */
export type OptionIn<O, K extends string> = K extends keyof O ? O[K] : undefined;

/**
 * What is wrong with where a decorator stands, in words.
 *
 * @typeParam D The decorator, as the field wants it.
 * @typeParam N The name of the decorator.
 * @typeParam P What else is wrong.
 * @internal
 */
export type PlaceProblem<D, N extends string, P> = FieldIn<D> extends infer F
  ? F extends { readonly owner: infer This }
    ? This extends FrameworkModel ? P : `@${N} belongs to a class that extends FrameworkModel`
  : F extends { readonly neither: true } ? `@${N} belongs to a field, such as name!: string`
  : unknown
  : never;

/**
 * A value in words.
 *
 * @typeParam V The value.
 * @internal
 */
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

/**
 * What a value may be written as: an enum by its values, an identifier by its text, a list as it stands in code.
 *
 * @typeParam V The value.
 * @internal
 */
export type Written<V> =
  | V
  | (V extends Types.ObjectId ? Identifier
    : V extends string ? `${V}`
    : V extends number ? (`${V}` extends `${infer N extends number}` ? N : never)
    : V extends readonly (infer I)[] ? readonly Written<I>[]
    : V extends Date | bigint | boolean | Map<string, unknown> | FrameworkModel ? never
    : V extends object ? { readonly [K in keyof V]: Written<V[K]> }
    : never);

/**
 * The values that `enum` allows.
 *
 * @typeParam E The option.
 * @internal
 */
export type EnumValues<E> = E extends readonly (infer X)[] ? X
  : E extends { readonly values: readonly (infer X)[] } ? X
  : E extends object ? E[keyof E]
  : never;

/**
 * The option `enum`, or what is wrong with it.
 *
 * @typeParam I The value of the field, of an element for an array.
 * @typeParam E The option.
 * @internal
 */
export type CheckedEnum<I, E> = [EnumValues<E>] extends [Written<I> | null] ? NonNullable<E>
  : `enum holds what the field may not: it is ${InWords<I>}`;

/**
 * The option `default`, or what is wrong with it.
 *
 * @typeParam V The value of the field.
 * @typeParam X The option.
 * @typeParam E The option `enum`.
 * @internal
 */
export type CheckedDefault<V, X, E> = X extends (...args: never) => infer R
  ? [R] extends [Written<V> | null | (V extends Date ? number : never)] ? X
  : `default gives what the field may not hold: it is ${InWords<V>}`
  : [X] extends [Written<V> | null]
    ? E extends object ? [X] extends [Written<EnumValues<E>> | null] ? X : "default is not in enum"
    : X
  : `default is what the field may not hold: it is ${InWords<V>}`;

/**
 * What a class or a thunk of one names.
 *
 * @typeParam C The class or the thunk.
 * @internal
 */
export type ModelNamed<C> = C extends ObjectConstructor ? never
  : C extends ModelClass<infer M> ? M
  : C extends () => ModelClass<infer M> ? M
  : never;

/**
 * A reference, or what is wrong with it: a `Ref` tells its model, other identifiers do not.
 *
 * @typeParam N The name of the option.
 * @typeParam I The identifier.
 * @typeParam C The class or the thunk that the option names.
 * @internal
 */
export type CheckedRef<N extends string, I, C> = [I] extends [Identifier]
  ? [ModelNamed<C>] extends [never] ? `${N} is a model class or () => Model`
  : I extends { readonly "~ref"?: infer T }
    ? T extends FrameworkModel
      ? [ModelNamed<C>] extends [T] ? C : `${N} is of another model than the field's Ref`
    : C
  : C
  : `${N} makes references, the field is ${InWords<I>}: declare it as Ref or string`;

/**
 * The option `type`, or what is wrong with it.
 *
 * @typeParam V The value of the field.
 * @typeParam T The option.
 * @internal
 */
export type CheckedType<V, T> = [V] extends [ValueOf<T>] ? T
  : [ValueOf<T>] extends [never] ? "type is no type of a field"
  : `type says ${InWords<ValueOf<T>>}, the field is ${InWords<V>}`;

/**
 * The option `of`, or what is wrong with it.
 *
 * @typeParam V The value of the field.
 * @typeParam T The option.
 * @internal
 */
export type CheckedOf<V, T> = V extends Map<string, infer X> ? unknown extends X ? T
  : [X] extends [ValueOf<T>] ? T
  : `of says ${InWords<ValueOf<T>>}, what the Map holds is ${InWords<X>}`
  : "of belongs to a Map";

/**
 * What no option is.
 *
 * @typeParam N The name of the decorator.
 * @typeParam O The options that were given.
 * @typeParam K The names of the options.
 * @internal
 */
export type NoOtherOptions<N extends string, O, K> = {
  readonly [X in Exclude<keyof O & string, K>]: `@${N} has no option ${X}`;
};

/**
 * The options that do not depend on each other.
 *
 * @typeParam V The value of the field.
 * @typeParam I The value of an element, for an array.
 * @internal
 */
export type IndependentOptions<V, I> = Omit<FieldOptions<V, I>, "default" | "enum">;
