import type { Types } from "mongoose";
import type { ModelClass } from "../model/framework_model.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
import type {
  BrandProblem,
  CheckedDefault,
  CheckedEnum,
  CheckedExample,
  CheckedExists,
  CheckedOf,
  CheckedRef,
  CheckedType,
  CheckedValidate,
  FieldValue,
  IndependentOptions,
  InWords,
  NoOtherOptions,
  OptionIn,
  PlaceProblem,
} from "./prop_input.ts";
import { recordField } from "../model/records.ts";

/** @internal A default value that also determines the type of its field. */
export type Literal = string | number | boolean | bigint | Date;

/** @internal The general type of a literal: `number` for `5`. */
export type Widen<D> = D extends string ? string
  : D extends number ? number
  : D extends boolean ? boolean
  : D extends bigint ? bigint
  : D;

/**
 * Options of {@linkcode prop}.
 *
 * @typeParam V The TypeScript type of the field.
 * @typeParam T The type of the option `type`.
 */
export interface PropOptions<V, T = unknown> extends FieldOptions<V> {
  /**
   * The type of the field. If it is missing, `ref` or `default` determines the type.
   *
   * @default {String}
   */
  readonly type?: T;
  /** The model that the field refers to: a class, a function that returns one, or a name. The field holds an identifier. */
  readonly ref?: ModelClass | (() => ModelClass) | string;
  /**
   * Whether a body may only name an entity that exists and that the scopes of its class select. Other identifiers are a
   * 400 `BAD_DATA` with `kind: "exists"`. It belongs to a field with `ref`.
   *
   * @default {false}
   */
  readonly exists?: boolean;
  /** The type of the values of a `Map`. */
  readonly of?: FieldType;
}

/**
 * Declares a field. It is a string unless `type`, `ref` or `default` says otherwise.
 *
 * TypeScript checks the options against the field. For example, `@prop({ type: Number }) year!: string` does not
 * compile. Neither does a `ref` to another model, an `of` of another type, or a `default` that `enum` does not list.
 *
 * @typeParam O The options.
 * @typeParam D The decorator type that the field requires.
 * @param options The type of the field, and options of Mongoose.
 * @returns The decorator.
 *
 * @example Declare the fields of a model
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
  this: PlaceProblem<D, "prop", BrandProblem<FieldValue<D>, O, UntypedProblem<FieldValue<D>, O>>>,
  options: [O] extends [never] ? PropOptions<FieldValue<D>, FieldType> : O,
): D;
/** Declares a field that holds a string. */
export function prop<D = FieldDecorator<string>>(
  this: PlaceProblem<
    D,
    "prop",
    BrandProblem<FieldValue<D>, NoOptions, UntypedProblem<FieldValue<D>, NoOptions>>
  >,
): D;
export function prop(options: Record<string, unknown> = {}): unknown {
  return (_value: undefined, context: ClassFieldDecoratorContext) =>
    recordField({ array: false, options }, context);
}

/** @internal No options. */
export type NoOptions = Readonly<Record<never, never>>;

/** @internal The options of {@linkcode prop} on a field with the value `V`. A wrong option gets its problem as type. */
export type PropInput<V, O> =
  & IndependentOptions<V, V>
  & {
    readonly type?: CheckedType<V, OptionIn<O, "type">>;
    readonly of?: CheckedOf<V, OptionIn<O, "of">>;
    readonly ref?: OptionIn<O, "ref"> extends string | undefined ? string | undefined
      : CheckedRef<"ref", V, OptionIn<O, "ref">>;
    readonly exists?: OptionIn<O, "ref"> extends undefined ? CheckedExists<
        OptionIn<O, "exists">,
        "exists belongs to a reference: say its model with ref"
      >
      : boolean;
    readonly enum?: CheckedEnum<V, OptionIn<O, "enum">>;
    readonly validate?: CheckedValidate<V, OptionIn<O, "validate">>;
    readonly default?: CheckedDefault<V, OptionIn<O, "default">, OptionIn<O, "enum">>;
    readonly example?: CheckedExample<V, OptionIn<O, "example">>;
  }
  & NoOtherOptions<"prop", O, keyof PropOptions<unknown>>;

/** @internal The value type by `type`, else by `ref`, else by `default`, else a string. */
export type ValueOfOptions<O> = [O] extends [never] ? string
  : OptionIn<O, "type"> extends infer T
    ? [T] extends [undefined]
      ? OptionIn<O, "ref"> extends undefined
        ? OptionIn<O, "default"> extends infer X extends Literal ? Widen<X> : string
      : Identifier
    : ValueOf<T>
  : never;

/** @internal The decorator for the options. */
export type DecoratorOf<O> = FieldDecorator<ValueOfOptions<O>>;

/** @internal The problem of a field that is not a string, if no option says its type. */
export type UntypedProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [ValueOfOptions<O>] ? unknown
  : OptionIn<O, "type" | "ref" | "default"> extends undefined
    ? [V] extends [readonly unknown[]] ? "@prop is one value, the field is a list: use @arrayProp"
    : [V] extends [Types.ObjectId] ? "the field is an identifier: say its model with ref"
    : `@prop is a string unless type says otherwise, the field is ${InWords<V>}`
  : unknown;
