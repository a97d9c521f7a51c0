import type { FrameworkModel, ModelClass } from "../model/framework_model.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType, Identifier, ValueOf } from "./field_type.ts";
import type {
  BrandProblem,
  CheckedDefault,
  CheckedEnum,
  CheckedExample,
  CheckedExists,
  CheckedRef,
  CheckedValidate,
  FieldValue,
  IndependentOptions,
  InWords,
  ModelNamed,
  NoOtherOptions,
  OptionIn,
  PlaceProblem,
} from "./prop_input.ts";
import { recordField } from "../model/records.ts";

/**
 * Options of {@linkcode arrayProp}.
 *
 * @typeParam I The TypeScript type of an element.
 * @typeParam T The type of the option `items`.
 */
export interface ArrayPropOptions<I, T> extends FieldOptions<I[], I> {
  /** The type of the elements: a model class, a function that returns one, or a type such as `String`. */
  readonly items: T;
  /**
   * Whether the array stores whole entities of the model instead of their identifiers.
   *
   * @default {false}
   */
  readonly embedded?: boolean;
  /**
   * Whether a body may only name entities that exist and that the scopes of their class select. Other identifiers are a
   * 400 `BAD_DATA` with `kind: "exists"`. It belongs to an array of references.
   *
   * @default {false}
   */
  readonly exists?: boolean;
}

/** @internal A model class, or a function that returns one. Use a function for classes that refer to each other. */
export type ModelOrThunk<M extends FrameworkModel> = ModelClass<M> | (() => ModelClass<M>);

/**
 * Declares a field that holds an array of values, of references or of embedded entities.
 *
 * With a type such as `String`, the array holds values. With a model class, it holds identifiers of entities. With a
 * model class and `embedded: true`, it holds the entities themselves. If no array is given, it is `[]`.
 *
 * @typeParam O The options.
 * @typeParam D The decorator type that the field requires.
 * @param options The type of the elements, and options of Mongoose.
 * @returns The decorator.
 *
 * @example Declare values, references and embedded entities
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
  this: PlaceProblem<
    D,
    "arrayProp",
    BrandProblem<FieldValue<D>, O, ItemsProblem<FieldValue<D>, O>>
  >,
  options: [O] extends [never] ? ArrayPropOptions<ItemIn<FieldValue<D>>, ItemsType> : O,
): D {
  const decorate = (_value: undefined, context: ClassFieldDecoratorContext): void =>
    recordField({ array: true, options: options as Record<string, unknown> }, context);
  return decorate as D;
}

/** @internal What `items` may be. */
export type ItemsType = FieldType;

/** @internal The type of an element. */
export type ItemIn<V> = V extends readonly unknown[] ? V[number] : never;

/**
 * @internal The options of {@linkcode arrayProp} on a field with the value `V`. A wrong option gets its problem as
 * type.
 */
export type ArrayInput<V, O> =
  & IndependentOptions<V, ItemIn<V>>
  & {
    readonly items?: CheckedItems<ItemIn<V>, OptionIn<O, "items">, OptionIn<O, "embedded">>;
    readonly embedded?: [ModelNamed<OptionIn<O, "items">>] extends [never]
      ? OptionIn<O, "embedded"> extends true ? "embedded belongs to items of a model" : boolean
      : boolean;
    readonly exists?: [ModelNamed<OptionIn<O, "items">>] extends [never]
      ? CheckedExists<OptionIn<O, "exists">, "exists belongs to references: items of a model">
      : OptionIn<O, "embedded"> extends true ? CheckedExists<
          OptionIn<O, "exists">,
          "exists belongs to references, the items are embedded"
        >
      : boolean;
    readonly enum?: CheckedEnum<ItemIn<V>, OptionIn<O, "enum">>;
    readonly validate?: CheckedValidate<V, OptionIn<O, "validate">>;
    readonly default?: CheckedDefault<V, OptionIn<O, "default">, undefined>;
    readonly example?: CheckedExample<V, OptionIn<O, "example">>;
  }
  & NoOtherOptions<"arrayProp", O, keyof ArrayPropOptions<unknown, unknown>>;

/** @internal The option `items`, or its problem. `E` is the option `embedded`. */
export type CheckedItems<I, T, E> = [ModelNamed<T>] extends [never] ? [I] extends [ValueOf<T>] ? T
  : [ValueOf<T>] extends [never] ? "items is neither a class such as Number nor a model class"
  : `items says ${InWords<ValueOf<T>>}, an element is ${InWords<I>}`
  : E extends true ? [I] extends [ModelNamed<T>] ? T
    : [I] extends [Identifier] ? "embedded stores models, an element is an identifier"
    : "items is of another model than the elements of the field"
  : CheckedRef<"items", I, T>;

/** @internal The decorator for the options. */
export type ArrayOf<O> = FieldDecorator<
  ([ModelNamed<OptionIn<O, "items">>] extends [never] ? ValueOf<OptionIn<O, "items">>
    : OptionIn<O, "embedded"> extends true ? ModelNamed<OptionIn<O, "items">>
    : Identifier)[]
>;

/** @internal The problem of an array that no single option has. */
export type ItemsProblem<V, O> = [O] extends [never] ? unknown
  : [V] extends [readonly unknown[]]
    ? OptionIn<O, "items"> extends undefined
      ? "@arrayProp needs items: a model class, () => Model or a type such as String"
    : unknown
  : `@arrayProp is a list, the field is ${InWords<V>}`;
