import type { Connection, SchemaOptions, Types } from "mongoose";
import type { FieldOptions, FieldRule, Validator } from "./decorators/field_options.ts";
import type { BrandProblem, RestrictedProblem } from "./decorators/brand_problems.ts";
import type { ValueOf } from "./decorators/field_type.ts";
import type {
  ArrayChecks,
  BoundOption,
  CheckedConstraint,
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
 * @internal The declaration that {@linkcode define} takes. TypeScript refuses a missing entry in `fields`, an entry for
 * no property, and an option that does not fit its property.
 */
export interface DefineOptions<M, N = Given<M>> {
  /** The base class, which must be declared before. Not needed for `FrameworkModel`. */
  readonly extends?: unknown;
  /**
   * An entry for each property, except for methods, read-only and inherited properties. An entry has the options of
   * {@linkcode prop}, or with `items` the options of {@linkcode arrayProp}. Its option `rest` has the options of
   * {@linkcode rest} on a property, or a list of them.
   */
  readonly fields: OpenFields<M>;
  /**
   * The options of {@linkcode rest} on the class, or a list of them. Not needed for a class that other models only
   * embed.
   */
  readonly rest?: OpenRest<N> | readonly OpenRest<N>[] | UncheckedValue;
  /** Accepts any other name, so that {@linkcode define} can refuse it with an error text. */
  readonly [name: string]: unknown;
}

/**
 * @internal The type against which {@linkcode define} checks the declaration `I` of the model `M`. A wrong option gets
 * an error text as its type.
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

/** @internal */
export type ClassProblem<M> = M extends FrameworkModel ? unknown
  : "define() takes a class that extends FrameworkModel";

/** Nothing uses `Rule`, but TypeScript prints its text if `fields` lacks an entry. */
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

/** The type of `_id` from its entry in `fields`. The class does not tell it, because it inherits `ObjectId`. */
type IdIn<X> = [ValueOf<OptionIn<X, "type">>] extends [infer V extends string | number | Types.UUID]
  ? [V] extends [never] ? Types.ObjectId : V
  : Types.ObjectId;

type FieldsRule = "each property of the class needs an entry in fields, such as {} for a string";

/** A read-only property needs no entry, because TypeScript cannot distinguish it from a getter, which is not stored. */
type NeededName<M, B> = WritableName<Pick<M, FieldName<M, B>>>;

type FieldName<M, B> = {
  [K in keyof M]-?: K extends keyof B ? never : IsMethod<M[K]> extends true ? never : K;
}[keyof M];

/** A property of the type `any` counts as no method, or else `define()` would refuse its entry. */
type IsMethod<V> = [NonNullable<V>] extends [AnyFunction] ? 0 extends 1 & V ? false : true : false;

/** Most classes have no read-only properties. Comparing the whole class first saves a comparison of each property. */
type WritableName<M> = IsSame<M, Writable<M>> extends true ? keyof M : {
  [K in keyof M]-?: IsSame<Pick<M, K>, { -readonly [N in K]: M[N] }> extends true ? K : never;
}[keyof M];

type Writable<M> = { -readonly [K in keyof M]: M[K] };

type AnyFunction = (...args: never) => unknown;

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
 * The type of a correct entry `X` for the property `K`, or error texts. `I` is the type of a value or element, and `C`
 * has the types of the options. `P` is an error text about the property, or `unknown`.
 */
type CheckedEntry<K extends string, V, X, I, C, P> = EntryProblem<V, X, P> extends infer Q
  ? unknown extends Q ? { readonly [N in keyof X]: CheckedOption<K, NonNullable<V>, X[N], N, I, C> }
  : IsMethod<V> extends true ? `${K} is a method and has no entry`
  : Reworded<K, Q>
  : never;

/**
 * The error text if the type of a property needs an option that the entry `X` lacks, such as `hidden` for `Hidden`, or
 * if a function in `hidden` needs the type `Restricted`. Otherwise `P`. Other entries are not checked, to save time.
 */
type EntryProblem<V, X, P> = [NonNullable<V>] extends [Brands]
  ? RestrictedProblem<{ readonly value: V }, X, BrandProblem<NonNullable<V>, X, P>>
  : "hidden" extends keyof X ? RestrictedProblem<{ readonly value: V }, X, P>
  : P;

/** The markers of types such as `Hidden`, which no other type of a value has. */
interface Brands {
  readonly "~hidden"?: unknown;
  readonly "~readonly"?: unknown;
  readonly "~restricted"?: unknown;
  readonly "~default"?: unknown;
  readonly "~dateOnly"?: unknown;
}

type CheckedOption<K extends string, V, X, N, I, C> = N extends keyof C
  ? [X] extends [C[N]] ? N extends "validate" ? FieldOptions<V, I>[N] : X
  : Reworded<K, C[N]>
  : N extends BoundOption | StringOption
    ? [X] extends [CheckedConstraint<N, V, I>] ? X : Reworded<K, CheckedConstraint<N, V, I>>
  : N extends keyof FieldOptions<V, I> ? FieldOptions<V, I>[N]
  : N extends "rest" ? CheckedRests<PartRule, ModelIn<V>, X, Part>
  : N extends "type" | "ref" | "of" ? `${K}: an entry with items has no option ${N}`
  : N extends "embedded" ? `${K}: an entry without items has no option embedded`
  : `${K}: an entry has no option ${N & string}`;

/** Makes an error text of a decorator fit `define()`, such as `use items` in place of `use @arrayProp`. */
type Reworded<K extends string, T> = T extends string ? string extends T ? T
  : T extends `${infer L}: use @arrayProp` ? `${Reworded<K, L>}: use items`
  : T extends `@prop ${infer R}` ? `${K}: an entry ${R}`
  : T extends `@arrayProp ${infer R}` ? `${K}: an entry with items ${R}`
  : `${K}: ${T}`
  : T;

type CheckedRests<Rule extends string, M, R, Kind extends RestKind> = R extends readonly unknown[]
  ? R extends readonly [] ? "rest is empty: leave it out, or list a route"
  : { readonly [I in keyof R]: CheckedRest<Rule, M, R[I], Kind> }
  : CheckedRest<Rule, M, R, Kind>;

type WholeRule = 'rest of a class needs a route, such as "/movies", and methods';
type PartRule = "rest of a property needs methods";

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
 * If `R` lacks a required option, TypeScript compares it with `NeededOptions`, and prints the unused argument `Rule` as
 * the reason.
 */
type CheckedRest<Rule extends string, M, R, Kind extends RestKind> =
  [Exclude<Kind["needed"], keyof R>] extends [never]
    ? { readonly [N in keyof R]: CheckedRestOption<M, R, N, Kind> }
    : NeededOptions<Rule, Kind["needed"]>;

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
 * The type of `scope`. Its filter may name only fields of the model, because a misspelled name would select wrong
 * entities.
 */
type CheckedScope<M, S> = (
  req: FrameworkRequest<ModelOr<M>>,
) => S extends (...args: never) => infer T ? [T] extends [Scoped] ? NamedFilter<M, T> : Scoped
  : Scoped;

/**
 * @internal The type of `fields` while TypeScript infers the entries. It gives types to the parameters of functions,
 * and accepts every other value, because `FieldsInput` checks the entries afterwards.
 */
export type OpenFields<M> =
  & { readonly [K in keyof M]?: OpenEntry<NonNullable<M[K]>> | UncheckedValue }
  & { readonly [name: string]: unknown };

/**
 * @internal Any value, because the inferred type is checked afterwards. It is not `unknown`, because a function in a
 * union with `unknown` gets no types for its parameters.
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

/** @internal The type of a route's options while TypeScript infers them, as in {@linkcode OpenFields}. */
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
