import type { FrameworkModel } from "../model/framework_model.ts";
import type { ModelClass } from "../model/model_class.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
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
 * @param options The type of the elements, and the mapper's options.
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
export function arrayProp<M extends FrameworkModel>(
  options: ArrayPropOptions<M, ModelOrThunk<M>> & { readonly embedded: true },
): FieldDecorator<M[]>;
/** Declares an array of references. */
export function arrayProp<M extends FrameworkModel>(
  options: ArrayPropOptions<Identifier, ModelOrThunk<M>> & { readonly embedded?: false },
): FieldDecorator<Identifier[]>;
/** Declares an array of scalars. */
export function arrayProp<const T extends FieldType>(
  options: ArrayPropOptions<ValueOf<T>, T> & { readonly embedded?: false },
): FieldDecorator<ValueOf<T>[]>;
export function arrayProp(options: object): FieldDecorator<unknown> {
  return (_value, context) => recordField(true, options, context as ClassFieldDecoratorContext);
}
