import type { Connection, SchemaOptions, Types } from "mongoose";
import type { FieldOptions, FieldRule, Validator } from "./decorators/field_options.ts";
import type { BrandProblem, RestrictedProblem } from "./decorators/brand_problems.ts";
import type { ValueOf } from "./decorators/field_type.ts";
import type {
  ArrayChecks,
  BoundOption,
  CheckedRule,
  HasKeywords,
  IsSame,
  ItemIn,
  ItemsProblem,
  KeywordProblem,
  OptionIn,
  PropChecks,
  StringOption,
  UntypedProblem,
} from "./decorators/prop_input.ts";
import type {
  ModelIn,
  ModelOr,
  Operations,
  PartRestOptions,
  RestOptions,
  Scoped,
  TenantField,
} from "./decorators/rest.ts";
import type { FrameworkRequest } from "./hooks/framework_request.ts";
import type { MaybePromise } from "./hooks/hooks.ts";
import type { NamedFilter } from "./model/field_names.ts";
import type { FrameworkModel } from "./model/framework_model.ts";
import type { Given } from "./operations/hooks_input.ts";
import type { LifecycleOptions } from "./options.ts";

/**
 * @internal The declaration of a model, which {@linkcode define} takes.
 *
 * TypeScript checks the declaration against the class `M`. A missing entry in `fields`, an entry for no property, and
 * an option that does not fit its property do not compile.
 */
export interface DefineOptions<M, N = Given<M>> {
  /**
   * The base class of the model, which is declared already, by {@linkcode define} or by decorators. A model whose base
   * is `FrameworkModel` has no such option.
   */
  readonly extends?: unknown;
  /**
   * An entry for each property of the class that is neither a method nor read-only. The properties of the class in
   * `extends` need no entry. An entry with `items` has the options of {@linkcode arrayProp}, and any other entry has
   * the options of {@linkcode prop}. The option `rest` of an entry has the options of {@linkcode rest} on a property,
   * or a list of such options.
   */
  readonly fields: OpenFields<M>;
  /**
   * The options of {@linkcode rest} on the class, or a list of such options. A class that other models only embed has
   * no such option.
   */
  readonly rest?: OpenRest<N> | readonly OpenRest<N>[] | UncheckedValue;
  /** Any option with another name, which {@linkcode define} refuses. */
  readonly [name: string]: unknown;
}

/**
 * @internal The type against which {@linkcode define} checks the declaration `I` of the model `M`. A wrong option gets
 * an error text as its type, which TypeScript prints.
 */
export type DefineInput<M, I> =
  & { readonly fields: FieldsInput<FieldsRule, M, BaseIn<I>, OptionIn<I, "fields">> }
  & {
    readonly [N in keyof I as Exclude<N, "fields">]: N extends "rest"
      ? CheckedRests<WholeRule, M, I[N], Whole>
      : N extends "extends" ? CheckedBase<M, I[N]>
      : `define() has no option ${N & string}`;
  };

type BaseIn<I> = OptionIn<I, "extends"> extends abstract new () => infer B ? B : FrameworkModel;

type CheckedBase<M, C> = C extends abstract new () => infer B
  ? [M] extends [B] ? C : "extends names another class than the base of the class"
  : "extends names a class";

/**
 * @internal The error text for a class that is no model, or else `unknown`. `define()` intersects the type of the class
 * with this type, so that TypeScript refuses the class and prints the text.
 */
export type ClassProblem<M> = M extends FrameworkModel ? unknown
  : "define() takes a class that extends FrameworkModel";

/**
 * The type against which the option `fields` of `define()` is checked for the model `M`. A wrong entry or option gets
 * an error text as its type, which TypeScript prints. `F` is the type of the given entries. `Rule` is only a text that
 * TypeScript prints in the error about a missing entry.
 */
type FieldsInput<Rule extends string, M, B, F> = {
  readonly [K in NeededName<M, B> | keyof F]: K extends keyof M
    ? K extends "_id" ? Entry<K, IdIn<OptionIn<F, "_id">>, OptionIn<F, K>>
    : HasKeywords<M> extends false ? Entry<K & string, M[K], OptionIn<F, K & string>>
    : KeywordProblem<M, K, OptionIn<F, K & string>, unknown> extends infer P
      ? unknown extends P ? Entry<K & string, M[K], OptionIn<F, K & string>>
      : Reworded<K & string, P>
    : never
    : `the class has no property ${K & string}`;
};

/** The type of the `_id` that an entry in `fields` of `define()` declares, whose class has the type `ObjectId`. */
type IdIn<X> = [ValueOf<OptionIn<X, "type">>] extends [infer V extends string | number | Types.UUID]
  ? [V] extends [never] ? Types.ObjectId : V
  : Types.ObjectId;

/** The text that TypeScript prints if a property of the class has no entry in the option `fields` of `define()`. */
type FieldsRule = "each property of the class needs an entry in fields, such as {} for a string";

/**
 * The names of the properties that need an entry in the option `fields` of `define()`. A method needs no entry. A
 * read-only property needs none either, because TypeScript cannot distinguish it from a getter, which is not stored.
 */
type NeededName<M, B> = WritableName<Pick<M, FieldName<M, B>>>;

type FieldName<M, B> = {
  [K in keyof M]-?: K extends keyof B ? never : IsMethod<M[K]> extends true ? never : K;
}[keyof M];

/**
 * Whether the type `V` of a property is a function, so that the property is a method and needs no entry in `fields` of
 * `define()`. The type `any` does not count as a function.
 */
type IsMethod<V> = [NonNullable<V>] extends [AnyFunction] ? 0 extends 1 & V ? false : true : false;

/**
 * The names of the properties that are not read-only, and therefore need an entry in `fields` of `define()`. The type
 * first compares all properties at once, so that the compiler does less for a class without read-only properties, as
 * most classes are.
 */
type WritableName<M> = IsSame<M, Writable<M>> extends true ? keyof M : {
  [K in keyof M]-?: IsSame<Pick<M, K>, { -readonly [N in K]: M[N] }> extends true ? K : never;
}[keyof M];

type Writable<M> = { -readonly [K in keyof M]: M[K] };

type AnyFunction = (...args: never) => unknown;

/**
 * The type against which `define()` checks the entry of the property `K` in its option `fields`. An entry with `items`
 * is checked like the options of `@arrayProp`, and any other entry like the options of `@prop`. `V` is the type of the
 * property, and `X` is the type of the given entry.
 */
type Entry<K extends string, V, X> = X extends object ? "items" extends keyof X ? CheckedEntry<
      K,
      V,
      X,
      ItemIn<NonNullable<V>>,
      ArrayChecks<NonNullable<V>, X>,
      ItemsProblem<NonNullable<V>, X>
    >
  : CheckedEntry<
    K,
    V,
    X,
    NonNullable<V>,
    PropChecks<NonNullable<V>, X>,
    UntypedProblem<NonNullable<V>, X>
  >
  : object;

/**
 * The type that an entry in `fields` of `define()` must have. A wrong option has an error text as its type. An entry
 * that does not fit its property at all, such as an entry for a method, is an error text itself. `I` is the type of the
 * value, or of the elements of an array. `C` has the types of the options, and `P` is an error text about the type of
 * the property, or `unknown`.
 */
type CheckedEntry<K extends string, V, X, I, C, P> = EntryProblem<V, X, P> extends infer Q
  ? unknown extends Q ? { readonly [N in keyof X]: CheckedOption<K, NonNullable<V>, X[N], N, I, C> }
  : IsMethod<V> extends true ? `${K} is a method and has no entry`
  : Reworded<K, Q>
  : never;

/**
 * The error text for an entry in `fields` of `define()` that does not fit the type of its property, such as an entry
 * without `hidden: true` for a property of the type `Hidden`. For any other entry, the type is `P`, which is the error
 * text of another check or `unknown`. Only properties of the types `Hidden`, `ReadOnly`, `Restricted`, `Defaulted` and
 * `DateOnly`, and entries with the option `hidden`, are compared, so that the compiler does less for all others.
 */
type EntryProblem<V, X, P> = [NonNullable<V>] extends [Brands]
  ? RestrictedProblem<{ readonly value: V }, X, BrandProblem<NonNullable<V>, X, P>>
  : "hidden" extends keyof X ? RestrictedProblem<{ readonly value: V }, X, P>
  : P;

/**
 * The properties by which the types `Hidden`, `ReadOnly`, `Restricted`, `Defaulted` and `DateOnly` are recognized. No
 * other type of a value has such a property.
 */
interface Brands {
  readonly "~hidden"?: unknown;
  readonly "~readonly"?: unknown;
  readonly "~restricted"?: unknown;
  readonly "~default"?: unknown;
  readonly "~dateOnly"?: unknown;
}

/**
 * The type against which `define()` checks the option `N` in the entry of the property `K`, or an error text if the
 * option is wrong. `X` is the type of the given option.
 */
type CheckedOption<K extends string, V, X, N, I, C> = N extends keyof C
  ? [X] extends [C[N]] ? N extends "validate" ? FieldOptions<V, I>[N] : X
  : Reworded<K, C[N]>
  : N extends BoundOption | StringOption
    ? [X] extends [CheckedRule<N, V, I>] ? X : Reworded<K, CheckedRule<N, V, I>>
  : N extends keyof FieldOptions<V, I> ? FieldOptions<V, I>[N]
  : N extends "rest" ? CheckedRests<PartRule, ModelIn<V>, X, Part>
  : N extends "type" | "ref" | "of" ? `${K}: an entry with items has no option ${N}`
  : N extends "embedded" ? `${K}: an entry without items has no option embedded`
  : `${K}: an entry has no option ${N & string}`;

/**
 * Converts an error text of a decorator to an error text of `define()`, which names the property and speaks of entries
 * and not of decorators. Any other type stays unchanged.
 */
type Reworded<K extends string, T> = T extends string ? string extends T ? T
  : T extends `${infer L}: use @arrayProp` ? `${Reworded<K, L>}: use items`
  : T extends `@prop ${infer R}` ? `${K}: an entry ${R}`
  : T extends `@arrayProp ${infer R}` ? `${K}: an entry with items ${R}`
  : `${K}: ${T}`
  : T;

/**
 * The type against which the option `rest` of `define()`, or of an entry in its `fields`, is checked. The option holds
 * the options of one route or a list of such options.
 */
type CheckedRests<Rule extends string, M, R, Kind extends RestKind> = R extends readonly unknown[]
  ? R extends readonly [] ? "rest is empty: leave it out, or list a route"
  : { readonly [I in keyof R]: CheckedRest<Rule, M, R[I], Kind> }
  : CheckedRest<Rule, M, R, Kind>;

/** The error texts for a route without a required option. TypeScript prints these texts in its error. */
type WholeRule = 'rest of a class needs a route, such as "/movies", and methods';
type PartRule = "rest of a property needs methods";

/**
 * The options of a route, which differ between the route of a class and the route of a property. `needed` has the names
 * of the required options, such as `route`, which only a class requires.
 */
interface RestKind {
  readonly options: object;
  readonly needed: string;
}

interface Whole extends RestKind {
  readonly options: RestOptions;
  readonly needed: "route" | "methods";
}

interface Part extends RestKind {
  readonly options: PartRestOptions;
  readonly needed: "methods";
}

/**
 * The type against which `define()` checks the options of one route. A wrong option gets an error text as its type,
 * which TypeScript prints. `R` is the type of the given options. `Rule` is only a text that TypeScript prints in the
 * error about a missing option.
 */
type CheckedRest<Rule extends string, M, R, Kind extends RestKind> =
  [Exclude<Kind["needed"], keyof R>] extends [never]
    ? { readonly [N in keyof R]: CheckedRestOption<M, R, N, Kind> }
    : NeededOptions<Rule, Kind["needed"]>;

/** The type of a route in which a required option is missing. The compiler refuses the route and prints `Rule`. */
type NeededOptions<Rule extends string, N extends string> = { readonly [K in N]: unknown };

type CheckedRestOption<M, R, N extends keyof R, Kind extends RestKind> = N extends "methods"
  ? CheckedMethods<M, R[N]>
  : N extends "scope" ? CheckedScope<M, R[N]>
  : N extends "tenant" ? N extends keyof Kind["options"] ? TenantField<M> | false
    : `rest has no option ${N & string}`
  : N extends "trash" ? N extends keyof Kind["options"] ? LifecycleOptions<ModelOr<M>>["trash"]
    : `rest has no option ${N & string}`
  : N extends keyof Kind["options"] ? Kind["options"][N]
  : `rest has no option ${N & string}`;

type CheckedMethods<M, L> = L extends readonly []
  ? "methods is empty: list operations, such as all()"
  : L extends readonly unknown[] ? Operations<L, M>
  : readonly Operation<M>[];

type Operation<M> = Operations<readonly unknown[], M>[number];

/**
 * The type against which `define()` checks the function `scope` of a route. The filter that the function returns may
 * only name fields of the model, because a misspelled name would select wrong entities.
 */
type CheckedScope<M, S> = (
  req: FrameworkRequest<ModelOr<M>>,
) => S extends (...args: never) => infer T ? [T] extends [Scoped] ? NamedFilter<M, T> : Scoped
  : Scoped;

/**
 * @internal The type of the option `fields` of `define()` before TypeScript has inferred the types of the entries.
 * Functions in an entry, such as `validate`, get the types of their parameters from it. Every other value is accepted,
 * because `FieldsInput` checks the entries.
 */
export type OpenFields<M> =
  & { readonly [K in keyof M]?: OpenEntry<NonNullable<M[K]>> | UncheckedValue }
  & { readonly [name: string]: unknown };

/**
 * @internal Any value in the options of `define()`, whose type is checked in a later step of the compiler. With
 * `unknown` in its place, a function would get no types for its parameters.
 */
export type UncheckedValue = string | number | boolean | bigint | object | null | undefined;

interface OpenEntry<V> {
  readonly hidden?: FieldRule | UncheckedValue;
  readonly readonly?: FieldRule | UncheckedValue;
  readonly validate?: Validator<V> | readonly (Validator<V> | UncheckedValue)[] | UncheckedValue;
  readonly get?: ((value: V) => unknown) | UncheckedValue;
  readonly set?: ((value: V) => unknown) | UncheckedValue;
  readonly transform?: ((value: V) => unknown) | UncheckedValue;
  readonly rest?: OpenRest<ModelIn<V>> | readonly OpenRest<ModelIn<V>>[] | UncheckedValue;
  readonly [name: string]: unknown;
}

/**
 * @internal The type of the options of a route in `define()` before TypeScript has inferred their types. Hooks and
 * other functions get the types of their parameters from it. Every other value is accepted, because `CheckedRests`
 * checks the options.
 */
export interface OpenRest<M> {
  readonly methods?: readonly Operation<M>[] | UncheckedValue;
  readonly scope?:
    | ((req: FrameworkRequest<ModelOr<M>>) => Scoped)
    | UncheckedValue;
  readonly trash?: LifecycleOptions<ModelOr<M>>["trash"] | UncheckedValue;
  readonly getConnection?: ((req: FrameworkRequest) => MaybePromise<Connection>) | UncheckedValue;
  readonly schemaOptions?: SchemaOptions | UncheckedValue;
  readonly [name: string]: unknown;
}
