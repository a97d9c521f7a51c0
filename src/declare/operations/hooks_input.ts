import type { OptionIn } from "../decorators/prop_input.ts";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type {
  FilterOptions,
  HookName,
  HooksOf,
  LeanHooksOf,
  OperationOptions,
} from "../hooks/hooks.ts";
import type { CheckedNames } from "../model/checked_names.ts";
import type {
  OptionName,
  OptionsTaken,
  OptionTable,
  ReadOptions,
  TakersInWords,
  WriteOptions,
} from "../options.ts";
import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import type { OperationName } from "./operation.ts";

/**
 * The model of an operation that is declared without a model, as in `all({ … })`. `@rest` checks its hooks against the
 * decorated class.
 */
export interface UnnamedModel<Hint extends string = "name the model, as in all<Movie>({ })">
  extends FrameworkModel {
  /** Exists in types only, so that TypeScript distinguishes this model from all others. */
  readonly "~unnamed"?: never;
}

/** @internal The parameter `H` of an operation function. A wrong hook or option gets an error text as its type. */
export type HooksInput<O extends OperationName, M, H> =
  & HooksFor<O, M, H>
  & {
    readonly [N in Exclude<HookName, HooksRun[O]>]?: Foreign<
      N,
      H,
      AnyHook,
      NeverRun<NeverRunProblem<O, N>>
    >;
  }
  & {
    readonly [N in Exclude<OptionName, OptionsTaken<O>>]?: Foreign<
      N,
      H,
      unknown,
      UntakenProblem<O, N>
    >;
  }
  & WithoutFilter<O, M, H>
  & { readonly [N in Exclude<NameIn<H>, KnownName>]: UnknownName<O, N, H[N & keyof H]> };

/** @internal */
export type HooksFor<O extends OperationName, M, H> = "~unnamed" extends keyof M
  ? HooksOfAnyModel<O, H>
  : M extends FrameworkModel ? NamedHooks<O, M, H>
  : never;

/** @internal */
export type NamedHooks<O extends OperationName, M extends FrameworkModel, H> =
  | { readonly lean?: false | undefined } & CheckedHooks<O, M, H, false>
  | (O extends "all" | "one" ? { readonly lean: true } & CheckedHooks<O, M, H, true> : never);

type CheckedHooks<O extends OperationName, M extends FrameworkModel, H, Lean> =
  & SharedInput<O, M, H>
  & OptionsInput<O, M, H>
  & { readonly [N in HooksRun[O]]?: CheckedHook<N, M, H, Lean> };

/** TypeScript checks only the results of these hooks. `@rest` checks their parameters against the decorated class. */
type HooksOfAnyModel<O extends OperationName, H> =
  & SharedInput<O, unknown, H>
  & OptionsInput<O, unknown, H>
  & { readonly lean?: boolean | undefined }
  & {
    readonly [N in HooksRun[O]]?:
      | CheckedHook<N, UnnamedModel, H, false>
      | OtherModel<N, HookIn<H, N>>;
  };

/** TypeScript prints the error text about a wrong hook, because the text is a type argument of the hook's type. */
type CheckedHook<N extends HookName, M extends FrameworkModel, H, Lean> = N extends "fetch"
  ? (req: FrameworkRequest<M>) => unknown
  : N extends "preFetch" ? PreFetchHook<HookProblem<N, HookIn<H, N>>, M>
  : Lean extends true ? InstanceHook<HookProblem<N, HookIn<H, N>>, M>
  : DocumentHook<HookProblem<N, HookIn<H, N>>, M>;

/** @internal */
export type NoOptions = Readonly<Record<never, never>>;

/**
 * @internal The parameter of an operation function. In a call such as `all<Movie>(…)`, TypeScript infers no `H`, which
 * is then `never`. The parameter then has the type of the hooks of `Movie`.
 */
export type GivenHooks<O extends OperationName, M, H> = [H] extends [never]
  ? NamedHooks<O, M extends FrameworkModel ? M : never, NoOptions>
  : H;

/**
 * @internal The hooks that `@rest` checks against the decorated class. For a named model, the type has exported names
 * only, or else an application that exports an operation could not declare its type.
 */
export type KeptHooks<O extends OperationName, M, H> = [H] extends [never]
  ? "~unnamed" extends keyof M ? NoOptions
  : M extends FrameworkModel ? O extends "all" | "one" ? HooksOf<M> | LeanHooksOf<M> : HooksOf<M>
  : never
  : Given<"~unnamed" extends keyof M ? NonNullable<H> : WithoutOptions<NonNullable<H>>>;

/** The operation function has checked the options. A second check by `@rest` would report each mistake twice. */
type WithoutOptions<H> = H extends unknown ? Omit<H, OptionName> : never;

/** @internal The type `T` in a form from which TypeScript infers no type parameter. */
export type Given<T> = [T][T extends unknown ? 0 : never];

type HookIn<H, N extends HookName> = N extends keyof H ? NonNullable<H[N]> : undefined;

/**
 * Accepts a hook `F` that only expects another model than `UnnamedModel`, because `@rest` compares the model with the
 * decorated class later. A hook with any other mistake does not compile.
 */
type OtherModel<N extends HookName, F> = N extends "fetch" ? CallableFunction
  : HookProblem<N, F> extends `${string} model${string}` ? CallableFunction
  : never;

/**
 * @internal The result of a function of the application. Nothing uses `Rule`, but TypeScript prints its text if the
 * result has another type.
 */
export type Returns<Rule extends string, T> = T | Promise<T>;

interface PreFetchHook<Problem extends string, M extends FrameworkModel> {
  (req: FrameworkRequest<M>): Returns<"preFetch returns true to let the request pass", boolean>;
}

type HookReturn = Returns<"a hook returns the entity, another object or null", object | null>;

interface DocumentHook<Problem extends string, M extends FrameworkModel> {
  (req: FrameworkRequest<M>, entity: Entity<M>, previous?: Entity<M>): HookReturn;
}

interface InstanceHook<Problem extends string, M extends FrameworkModel> {
  (req: FrameworkRequest<M>, entity: M, previous?: M): HookReturn;
}

type HookProblem<N extends HookName, F> = F extends (...args: never) => infer R
  ? [R] extends [undefined | void | Promise<undefined | void>]
    ? `${N} returns nothing: ${HookResult<N>}`
  : undefined extends Awaited<R> ? `${N} may return nothing: ${HookResult<N>}`
  : [Awaited<R>] extends [N extends "preFetch" ? boolean : object | null]
    ? `this ${N} expects another model`
  : `${N} returns something else: ${HookResult<N>}`
  : `${N} expects this model: ${HookResult<N>}`;

type HookResult<N extends HookName> = N extends "preFetch" ? "return true to let the request pass"
  : "return the entity, another object or null";

/** @internal */
export type HooksRun =
  & Readonly<Record<"all" | "one", "preFetch" | "fetch" | "postFetch" | "preSend">>
  & Readonly<Record<"create" | "update" | "replace", HookName>>
  & Readonly<Record<"remove" | "removeAll" | "updateAll", Exclude<HookName, "preSend">>>;

type KnownName = HookName | "lean" | keyof OperationOptions | OptionName;

/** If `H` accepts any name, its names are not known, and none can be refused. */
type NameIn<H> = string extends keyof H ? never : keyof H & string;

/**
 * The error text for a hook or an option that the operation does not accept. An optional property of `H`, as in
 * `HooksOf<M>`, compiles, because it may have no value. If it has a value, the start fails.
 */
type Foreign<N extends string, H, Allowed, Problem> = N extends keyof H
  ? Partial<Pick<H, N>> extends Pick<H, N> ? Allowed : Problem
  : Problem;

type UntakenProblem<O extends OperationName, N extends OptionName> =
  `${O}() has no ${N}, only ${TakersInWords<N>}`;

interface AnyHook {
  // deno-lint-ignore no-explicit-any -- only the name of the hook is wrong, so its parameters cause no second error
  (req: any, entity: any, previous?: any): any;
}

/** No function has this property, so TypeScript refuses every hook here and prints `Problem`. */
interface NeverRun<Problem extends string> extends AnyHook {
  readonly "never runs": Problem;
}

type UnknownName<O extends OperationName, N extends string, V> = V extends NoFunction
  ? `${O}() has no option ${N}`
  : NeverRun<NeverRunProblem<O, N>>;

type NoFunction =
  | (string | number | boolean | null | undefined | readonly unknown[])
  | { readonly [name: string]: unknown };

type NeverRunProblem<O extends OperationName, N extends string> =
  `${O}() never runs ${N}, it runs ${O extends "all" | "one"
    ? "preFetch, fetch, postFetch and preSend"
    : O extends "create" | "update" | "replace"
      ? "preFetch, fetch, postFetch, preSave, persist and preSend"
    : "preFetch, fetch, postFetch, preSave and persist"}`;

type WithoutFilter<O extends OperationName, M, H> = O extends "create" | "replace" ?
    & FilterOptions<M>
    & { readonly filter?: Foreign<"filter", H, unknown, `${O}() has no filter`> }
  : unknown;

type SharedInput<O extends OperationName, M, H> =
  & Omit<OperationOptions, "filter">
  & (O extends "create" | "replace" ? unknown
    : { readonly filter?: CheckedNames<"filter", M, OptionIn<H, "filter">> | undefined });

type OptionsInput<O extends OperationName, M, H> =
  & {
    readonly [N in keyof Pick<ReadOptions, OptionsTaken<O> & keyof ReadOptions>]:
      | ReturnType<OptionTable<M, OptionIn<H, N>>[N]>
      | undefined;
  }
  & {
    readonly [
      N in keyof Pick<WriteOptions, Exclude<OptionsTaken<O> & keyof WriteOptions, "fields">>
    ]:
      | ReturnType<OptionTable<M, OptionIn<H, N>>[N]>
      | undefined;
  }
  & (O extends "updateAll"
    ? { readonly fields: ReturnType<OptionTable<M, OptionIn<H, "fields">>["fields"]> }
    : unknown);
