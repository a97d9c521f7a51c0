import type { FrameworkModel } from "../model/framework_model.ts";
import type { ModelClass } from "../model/model_class.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
import { recordField } from "./_record.ts";

/** A value whose type `default` alone can tell. */
export type Literal = string | number | boolean | bigint | Date;

/**
 * The type behind a literal: `5` tells `number`.
 *
 * @typeParam D The literal.
 */
export type Widen<D> = D extends string ? string
  : D extends number ? number
  : D extends boolean ? boolean
  : D extends bigint ? bigint
  : D;

/**
 * The options of {@linkcode prop}.
 *
 * @typeParam V The value of the field.
 * @typeParam T The type that tells it.
 */
export interface PropOptions<V, T = unknown> extends FieldOptions<V> {
  /** What the field holds. @default {String} */
  readonly type?: T;
  /** Makes the field a reference: it holds the identifier of an entity of that model. */
  readonly ref?: ModelClass | (() => ModelClass) | string;
  /** What the values of a `Map` are. */
  readonly of?: FieldType;
}

/**
 * Declares a scalar field: text unless `type`, `ref` or `default` says otherwise.
 *
 * The compiler holds the option against the field: `@prop({ type: Number }) year!: string` does not compile.
 *
 * @param options The type, and the mapper's options.
 * @returns The decorator.
 *
 * @example Fields of a model
 * ```ts
 * import { FrameworkModel, prop } from "@mongrove/mongrove";
 *
 * class Movie extends FrameworkModel {
 *   @prop({ required: true })
 *   name!: string;
 *   @prop({ type: Number, min: 1888 })
 *   year?: number;
 *   @prop({ default: false })
 *   seen!: boolean;
 *   @prop({ hidden: true })
 *   secret?: string;
 * }
 * ```
 */
export function prop(
  options?: PropOptions<string, undefined> & { readonly ref?: undefined },
): FieldDecorator<string>;
/** Declares a field whose type is given. */
export function prop<const T extends FieldType>(
  options: PropOptions<ValueOf<T>, T> & { readonly type: T },
): FieldDecorator<ValueOf<T>>;
/** Declares a reference. */
export function prop<M extends FrameworkModel>(
  options: PropOptions<Identifier, undefined> & {
    readonly ref: ModelClass<M> | (() => ModelClass<M>);
  },
): FieldDecorator<Identifier>;
/** Declares a field whose default tells its type. */
export function prop<D extends Literal>(
  options: Omit<PropOptions<Widen<D>, undefined>, "default"> & {
    readonly default: D;
    readonly ref?: undefined;
  },
): FieldDecorator<Widen<D>>;
export function prop(options: object = {}): FieldDecorator<unknown> {
  return (_value, context) => recordField(false, options, context as ClassFieldDecoratorContext);
}
