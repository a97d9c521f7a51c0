import type { FrameworkModel } from "../model/framework_model.ts";
import type { ModelClass } from "../model/model_class.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
import type {
  CheckedDefault,
  CheckedEnum,
  CheckedRef,
  FieldValue,
  IndependentOptions,
  InWords,
  ModelNamed,
  NoOtherOptions,
  OptionIn,
  PlaceProblem,
} from "./prop_input.ts";
import { recordField } from "./_record.ts";

/**
 * The options of {@linkcode arrayProp}.
 *
 * @typeParam I The value of an element.
 * @typeParam T The type that tells it.
 */
export interface ArrayPropOptions<I, T> extends FieldOptions<I[], I> {
  /** What the elements are: a model class or a thunk of it, or a scalar type. */
  readonly items: T;
  /** Whether elements of a model are stored inside the array, instead of their identifiers. @default {false} */
  readonly embedded?: boolean;
}

/**
 * A model class, or a thunk of it for classes that refer to each other.
 *
 * @typeParam M The model.
 */
export type ModelOrThunk<M extends FrameworkModel> = ModelClass<M> | (() => ModelClass<M>);

/**
 * Declares an array: of embedded documents, of references, or of scalars.
 *
 * With a model class the array holds identifiers; with `embedded: true` it holds the documents themselves; with a
 * scalar type it holds values. An array that is not supplied is `[]`.
 *
 * @typeParam O The options.
 * @typeParam D The decorator, as the field wants it.
 * @param options The type of the elements, and Mongoose's options.
 * @returns The decorator.
 *
 * @example The three kinds
 * ```ts
 * import { arrayProp, FrameworkModel, prop } from "@mongrove/mongrove";
 *
 * class Actor extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @arrayProp({ items: () => Movie })
 *   movies?: string[];
 * }
 *
 * class Movie extends FrameworkModel {
 *   @arrayProp({ items: Actor })
 *   actors?: string[];
 *   @arrayProp({ items: Actor, embedded: true })
 *   crew?: Actor[];
 *   @arrayProp({ items: String })
 *   tags?: string[];
 * }
 * ```
 */
export function arrayProp<const O extends ArrayInput<FieldValue<D>, O> = never, D = ArrayOf<O>>(
  this: PlaceProblem<D, "arrayProp", ItemsProblem<FieldValue<D>, O>>,
  options: [O] extends [never] ? ArrayPropOptions<ItemIn<FieldValue<D>>, ItemsType> : O,
): D {
  const decorate = (_value: undefined, context: ClassFieldDecoratorContext): void =>
    recordField(true, options as object, context);
  return decorate as D;
}

/**
 * What `items` may be.
 *
 * @internal
 */
export type ItemsType = FieldType;

/**
 * An element of a list.
 *
 * @typeParam V The list.
 * @internal
 */
export type ItemIn<V> = V extends readonly unknown[] ? V[number] : never;

/**
 * The options of {@linkcode arrayProp} on a field, each with what is wrong with it.
 *
 * @typeParam V The value of the field.
 * @typeParam O The options that were given.
 * @internal
 */
export type ArrayInput<V, O> =
  & IndependentOptions<V, ItemIn<V>>
  & {
    readonly items?: CheckedItems<ItemIn<V>, OptionIn<O, "items">, OptionIn<O, "embedded">>;
    readonly embedded?: [ModelNamed<OptionIn<O, "items">>] extends [never]
      ? OptionIn<O, "embedded"> extends true ? "embedded belongs to items of a model" : boolean
      : boolean;
    readonly enum?: CheckedEnum<ItemIn<V>, OptionIn<O, "enum">>;
    readonly default?: CheckedDefault<V, OptionIn<O, "default">, undefined>;
  }
  & NoOtherOptions<"arrayProp", O, keyof ArrayPropOptions<unknown, unknown>>;

/**
 * The option `items`, or what is wrong with it.
 *
 * @typeParam I The value of an element.
 * @typeParam T The option.
 * @typeParam E The option `embedded`.
 * @internal
 */
export type CheckedItems<I, T, E> = [ModelNamed<T>] extends [never] ? [I] extends [ValueOf<T>] ? T
  : [ValueOf<T>] extends [never] ? "items is no type of an element"
  : `items says ${InWords<ValueOf<T>>}, an element is ${InWords<I>}`
  : E extends true
    ? [I] extends [ModelNamed<T>] ? T : "items is of another model than the elements of the field"
  : CheckedRef<"items", I, T>;

/**
 * The decorator that the options make.
 *
 * @typeParam O The options.
 * @internal
 */
export type ArrayOf<O> = FieldDecorator<
  ([ModelNamed<OptionIn<O, "items">>] extends [never] ? ValueOf<OptionIn<O, "items">>
    : OptionIn<O, "embedded"> extends true ? ModelNamed<OptionIn<O, "items">>
    : Identifier)[]
>;

/**
 * What is wrong with an array as a whole, in words.
 *
 * @typeParam V The value of the field.
 * @typeParam O The options.
 * @internal
 */
export type ItemsProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [readonly unknown[]]
    ? OptionIn<O, "items"> extends undefined
      ? "@arrayProp needs items: a model class, () => Model or a type such as String"
    : unknown
  : `@arrayProp is a list, the field is ${InWords<V>}`;
