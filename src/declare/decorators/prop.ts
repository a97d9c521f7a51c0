import type { ModelClass } from "../model/model_class.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
import type {
  CheckedDefault,
  CheckedEnum,
  CheckedOf,
  CheckedRef,
  CheckedType,
  FieldValue,
  IndependentOptions,
  InWords,
  NoOtherOptions,
  OptionIn,
  PlaceProblem,
} from "./prop_input.ts";
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
 * The compiler checks the options against the field: `@prop({ type: Number }) year!: string` does not compile, and
 * neither does a `ref` of another model, an `of` of another type, or a `default` that `enum` does not list.
 *
 * @typeParam O The options.
 * @typeParam D The decorator, as the field wants it.
 * @param options The type, and Mongoose's options.
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
export function prop<const O extends PropInput<FieldValue<D>, O> = never, D = DecoratorOf<O>>(
  this: PlaceProblem<D, "prop", UntypedProblem<FieldValue<D>, O>>,
  options: [O] extends [never] ? PropOptions<FieldValue<D>, FieldType> : O,
): D;
/** Declares a string. */
export function prop<D = FieldDecorator<string>>(
  this: PlaceProblem<D, "prop", UntypedProblem<FieldValue<D>, NoOptions>>,
): D;
export function prop(options: object = {}): unknown {
  return (_value: undefined, context: ClassFieldDecoratorContext) =>
    recordField(false, options, context);
}

/**
 * No options.
 *
 * @internal
 */
export type NoOptions = Readonly<Record<never, never>>;

/**
 * The options of {@linkcode prop} on a field, each with what is wrong with it.
 *
 * @typeParam V The value of the field.
 * @typeParam O The options that were given.
 * @internal
 */
export type PropInput<V, O> =
  & IndependentOptions<V, V>
  & {
    readonly type?: CheckedType<V, OptionIn<O, "type">>;
    readonly of?: CheckedOf<V, OptionIn<O, "of">>;
    readonly ref?: OptionIn<O, "ref"> extends string | undefined ? string | undefined
      : CheckedRef<"ref", V, OptionIn<O, "ref">>;
    readonly enum?: CheckedEnum<V, OptionIn<O, "enum">>;
    readonly default?: CheckedDefault<V, OptionIn<O, "default">, OptionIn<O, "enum">>;
  }
  & NoOtherOptions<"prop", O, keyof PropOptions<unknown>>;

/**
 * The value that the options tell: by `type`, else by `ref`, else by `default`, else a string.
 *
 * @typeParam O The options.
 * @internal
 */
export type ValueOfOptions<O> = [O] extends [never] ? string
  : OptionIn<O, "type"> extends infer T
    ? [T] extends [undefined]
      ? OptionIn<O, "ref"> extends undefined
        ? OptionIn<O, "default"> extends infer X extends Literal ? Widen<X> : string
      : Identifier
    : ValueOf<T>
  : never;

/**
 * The decorator that the options make.
 *
 * @typeParam O The options.
 * @internal
 */
export type DecoratorOf<O> = FieldDecorator<ValueOfOptions<O>>;

/**
 * What is wrong with a field that no option tells the type of, in words.
 *
 * @typeParam V The value of the field.
 * @typeParam O The options.
 * @internal
 */
export type UntypedProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [ValueOfOptions<O>] ? unknown
  : OptionIn<O, "type" | "ref" | "default"> extends undefined
    ? `@prop is a string unless type says otherwise, the field is ${InWords<V>}`
  : unknown;
