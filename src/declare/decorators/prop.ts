import type { ModelClass } from "../model/framework_model.ts";
import { recordField } from "../model/records.ts";
import type { ArrayFeatures, FieldFeatures } from "../options.ts";
import type { FieldOptions } from "./field_options.ts";
import type { FieldDecorator, FieldType } from "./field_type.ts";
import type { NoOptions } from "../operations/hooks_input.ts";
import type {
  ArrayInput,
  ArrayOf,
  DecoratorOf,
  FieldProblem,
  FieldValue,
  ItemIn,
  ItemsProblem,
  PropInput,
  UntypedProblem,
} from "./prop_input.ts";

/** @internal */
export interface ReferenceOptions {
  /**
   * Whether a body can only name entities that exist and match the scopes of the referenced class. Other identifiers
   * answer 400 with `kind: "exists"`.
   */
  readonly exists?: boolean;
  /**
   * Whether clients of this class may see and filter by referenced entities, although the hooks of `one()` of the
   * referenced class do not run for them. Scopes still apply. Without this option, the start fails if `populate` or
   * `filter` names a reference to a class whose `one()` has hooks. A `preFetch` hook that the reading operation also
   * has is allowed.
   */
  readonly unguarded?: boolean;
}

/** Options of {@linkcode prop}, for a field with one value, such as a string or an embedded entity. */
export interface PropOptions<V, T = unknown>
  extends FieldOptions<V>, FieldFeatures, ReferenceOptions {
  /** The type of the field. The default is an identifier with `ref`, else the type of `default`, else `String`. */
  readonly type?: T;
  /** The model to which the identifier in the field refers: a class, a function that returns it, or a name. */
  readonly ref?: ModelClass | (() => ModelClass) | string;
  /** The type of the values in the Map, for a field with `type: Map`. */
  readonly of?: FieldType;
}

/**
 * Declares a field, which holds a string unless `type`, `ref` or `default` declares another type.
 *
 * TypeScript checks the options against the field: `@prop({ type: Number }) year!: string` does not compile.
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
 * }
 * ```
 */
export function prop<const O extends PropInput<FieldValue<D>, O> = never, D = DecoratorOf<O>>(
  this: FieldProblem<D, "prop", O, UntypedProblem<FieldValue<D>, O>>,
  options: [O] extends [never] ? PropOptions<FieldValue<D>, FieldType> : O,
): D;
/** Declares a field that holds a string. */
export function prop<D = FieldDecorator<string>>(
  this: FieldProblem<D, "prop", NoOptions, UntypedProblem<FieldValue<D>, NoOptions>>,
): D;
// With a parameter of any type but `never`, TypeScript would add to each error about a wrong call that this
// implementation, which nobody can call, would accept it.
export function prop(options: never = {} as never): unknown {
  return (_value: undefined, context: ClassFieldDecoratorContext) =>
    recordField({ array: false, options }, context);
}

/** @internal Options of {@linkcode arrayProp}. Rules for values, such as `min` and `enum`, apply to each element. */
export interface ArrayPropOptions<I, T>
  extends FieldOptions<I[], I>, ArrayFeatures, ReferenceOptions {
  /** The type of the elements: a model class, a function that returns one, or a type such as `String`. */
  readonly items: T;
  /** Whether the array stores whole entities of the model instead of their identifiers. */
  readonly embedded?: boolean;
}

/**
 * Declares a field that holds an array. A field without a value is `[]`.
 *
 * With a type such as `String`, the array holds values. With a model class, the array holds identifiers of entities,
 * and with `embedded: true` the entities themselves.
 *
 * @example Declare values, references and embedded entities
 * ```ts
 * import { arrayProp, FrameworkModel } from "@mongrove/mongrove";
 *
 * class Actor extends FrameworkModel {}
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
  this: FieldProblem<D, "arrayProp", O, ItemsProblem<FieldValue<D>, O>>,
  options: [O] extends [never] ? ArrayPropOptions<ItemIn<FieldValue<D>>, FieldType> : O,
): D {
  const decorate = (_value: undefined, context: ClassFieldDecoratorContext): void =>
    recordField({ array: true, options: options as Record<string, unknown> }, context);
  return decorate as D;
}
