import type { OptionIn } from "../decorators/prop_input.ts";
import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Fetch, HookName, OperationOptions } from "../hooks/hooks.ts";
import type {
  CountOptions,
  PageOptions,
  PopulateFields,
  PopulateOptions,
  ReadOptions,
} from "../hooks/read_options.ts";
import type { FieldNames, FieldUse, IsKnown, NameProblem, TargetOf } from "../model/field_names.ts";
import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import type { OperationName } from "./operation.ts";

/**
 * The model of hooks that do not name a model. `@rest` checks them against its class.
 *
 * @typeParam Hint A hint that TypeScript prints in error messages.
 */
export interface UnnamedModel<Hint extends string = "name the model, as in all<Movie>({ })">
  extends FrameworkModel {
  /** Never set. It lets TypeScript tell this type from all models. */
  readonly "~unnamed"?: never;
}

/** @internal The hooks that an operation takes. Other names are errors. `H` is what was given. */
export type HooksInput<O extends OperationName, M, H> = HooksFor<O, M, H> & NoOtherHooks<O, H>;

/** @internal The hooks that an operation takes. `M` is {@linkcode UnnamedModel} if the model is not known. */
export type HooksFor<O extends OperationName, M, H> = "~unnamed" extends keyof M
  ? HooksOfAnyModel<O, H>
  : M extends FrameworkModel ? NamedHooks<O, M, H>
  : never;

/** @internal The hooks that an operation of a known model takes. */
export type NamedHooks<O extends OperationName, M extends FrameworkModel, H> =
  | DocumentHooks<O, M, H>
  | (O extends "all" | "one" ? InstanceHooks<O, M, H> : never);

/** @internal No hooks. */
export type NoHooks = Readonly<Record<never, never>>;

/** @internal The parameter type of an operation function. `H` is `never` if the call names the model. */
export type GivenHooks<O extends OperationName, M, H> = [H] extends [never]
  ? NamedHooks<O, M extends FrameworkModel ? M : never, NoHooks>
  : H;

/** @internal The hooks of the result of an operation function. */
export type KeptHooks<O extends OperationName, M, H> = [H] extends [never]
  ? "~unnamed" extends keyof M ? NoHooks : Given<HooksFor<O, M, NoHooks>>
  : Given<"~unnamed" extends keyof M ? NonNullable<H> : WithoutReads<NonNullable<H>>>;

/** @internal Hooks without the options of reads, where these are checked already: one mistake gives one message. */
export type WithoutReads<H> = H extends unknown ? Omit<H, keyof ReadOptions> : never;

/** @internal The hooks of an operation, if they get documents. */
export type DocumentHooks<O extends OperationName, M extends FrameworkModel, H> =
  & { readonly lean?: false | undefined }
  & OperationOptions
  & ReadInput<O, M, H>
  & RequestHooks<M, H>
  & { readonly [N in EntityHookName<O>]?: DocumentHook<HookProblem<N, HookIn<H, N>>, M> };

/** @internal The hooks of a read, if they get instances of the class. */
export type InstanceHooks<O extends OperationName, M extends FrameworkModel, H> =
  & { readonly lean: true }
  & OperationOptions
  & ReadInput<O, M, H>
  & RequestHooks<M, H>
  & { readonly [N in EntityHookName<O>]?: InstanceHook<HookProblem<N, HookIn<H, N>>, M> };

/** @internal The hooks that get only the request. */
export interface RequestHooks<M extends FrameworkModel, H> {
  /** Runs before any database call. Any result except `true` answers 403. */
  readonly preFetch?: PreFetchHook<HookProblem<"preFetch", HookIn<H, "preFetch">>, M>;
  /** Replaces the default read. */
  readonly fetch?: Fetch<FrameworkRequest<M>>;
}

/** @internal Hooks of an unknown model. Only what they return is checked. */
export type HooksOfAnyModel<O extends OperationName, H> =
  & OperationOptions
  & ReadInput<O, unknown, H>
  & {
    readonly lean?: boolean | undefined;
    readonly fetch?: Fetch | CallableFunction;
    readonly preFetch?:
      | PreFetchHook<HookProblem<"preFetch", HookIn<H, "preFetch">>, UnnamedModel>
      | OtherModel<"preFetch", HookIn<H, "preFetch">>;
  }
  & {
    readonly [N in EntityHookName<O>]?:
      | DocumentHook<HookProblem<N, HookIn<H, N>>, UnnamedModel>
      | OtherModel<N, HookIn<H, N>>;
  };

/** @internal `T`, in a place from which TypeScript infers nothing. */
export type Given<T> = [T][T extends unknown ? 0 : never];

/** @internal The names of the hooks that get an entity. */
export type EntityHookName<O extends OperationName> = Exclude<HooksRun[O], "preFetch" | "fetch">;

/** @internal The hook of that name, if it was given. */
export type HookIn<H, N extends HookName> = N extends keyof H ? NonNullable<H[N]> : undefined;

/** @internal A hook that is right except for its model. `@rest` checks the model. */
export type OtherModel<N extends HookName, F> = HookProblem<N, F> extends `${string} model${string}`
  ? CallableFunction
  : never;

/** @internal The return type of a hook: a value or a promise of it. */
export type Returns<Rule extends string, T> = T | Promise<T>;

/** @internal A `preFetch` hook. */
export interface PreFetchHook<Problem extends string, M extends FrameworkModel> {
  (req: FrameworkRequest<M>): Returns<"preFetch returns true to let the request pass", boolean>;
}

/** @internal A hook that gets Mongoose documents. */
export interface DocumentHook<Problem extends string, M extends FrameworkModel> {
  (
    req: FrameworkRequest<M>,
    entity: Entity<M>,
    previous?: Entity<M>,
  ): Returns<"a hook returns the entity, another object or null", object | null>;
}

/** @internal A hook that gets instances of the class. */
export interface InstanceHook<Problem extends string, M extends FrameworkModel> {
  (
    req: FrameworkRequest<M>,
    entity: M,
    previous?: M,
  ): Returns<"a hook returns the entity, another object or null", object | null>;
}

/** @internal Any hook. */
export interface AnyHook {
  // deno-lint-ignore no-explicit-any -- it types the parameters of a function whose name alone is wrong
  (req: any, entity: any, previous?: any): any;
}

/** @internal A hook that the operation never runs. No function has this type, and TypeScript prints the problem. */
export interface NeverRun<Problem extends string> extends AnyHook {
  readonly "never runs": Problem;
}

/** @internal The problem of a hook with a wrong type. */
export type HookProblem<N extends HookName, F> = F extends (...args: never) => infer R
  ? [R] extends [undefined | void | Promise<undefined | void>]
    ? `${N} returns nothing: ${HookResult<N>}`
  : undefined extends Awaited<R> ? `${N} may return nothing: ${HookResult<N>}`
  : [Awaited<R>] extends [N extends "preFetch" ? boolean : object | null]
    ? `this ${N} expects another model`
  : `${N} returns something else: ${HookResult<N>}`
  : `${N} expects this model: ${HookResult<N>}`;

/** @internal The result that a hook must return, in words. */
export type HookResult<N extends HookName> = N extends "preFetch"
  ? "return true to let the request pass"
  : "return the entity, another object or null";

/** @internal The hooks that each operation runs. `OPERATIONS` has them as data. */
export type HooksRun =
  & Readonly<Record<"all" | "one", "preFetch" | "fetch" | "postFetch" | "preSend">>
  & Readonly<Record<"create" | "update", HookName>>
  & Readonly<Record<"remove" | "removeAll", Exclude<HookName, "preSend">>>;

/** @internal The options of reads that each operation has. */
export type OptionsRead =
  & { readonly all: keyof ReadOptions; readonly one: "select" | "populate" }
  & Readonly<Record<Exclude<OperationName, "all" | "one">, never>>;

/** @internal Errors for hooks that the operation never runs, for options that it never reads, and for other names. */
export type NoOtherHooks<O extends OperationName, H> =
  & { readonly [N in Exclude<HookName, HooksRun[O]>]?: Unrun<O, N, H> }
  & { readonly [N in Exclude<keyof ReadOptions, OptionsRead[O]>]?: Unread<O, N, H> }
  & { readonly [N in Exclude<NameIn<H>, KnownName>]: NeverRun<NeverRunProblem<O, N>> };

/** @internal The names that an operation may be given. */
export type KnownName = HookName | "lean" | keyof OperationOptions | keyof ReadOptions;

/** @internal A hook that the operation never runs. An optional one of a variable is checked at start-up instead. */
export type Unrun<O extends OperationName, N extends string, H> = N extends keyof H
  ? Partial<Pick<H, N>> extends Pick<H, N> ? AnyHook : NeverRun<NeverRunProblem<O, N>>
  : NeverRun<NeverRunProblem<O, N>>;

/** @internal An option that the operation never reads. An optional one of a variable is checked at start-up instead. */
export type Unread<O extends OperationName, N extends keyof ReadOptions, H> = N extends keyof H
  ? Partial<Pick<H, N>> extends Pick<H, N> ? unknown : UnreadProblem<O, N>
  : UnreadProblem<O, N>;

/** @internal The problem of an option that its operation never reads. */
export type UnreadProblem<O extends OperationName, N extends keyof ReadOptions> =
  `${O}() has no ${N}, only ${N extends OptionsRead["one"] ? "all() and one() have" : "all() has"}`;

/** @internal The names of the given hooks, if they are known. */
export type NameIn<H> = string extends keyof H ? never : keyof H & string;

/** @internal The problem of a hook that its operation never runs. */
export type NeverRunProblem<O extends OperationName, N extends string> =
  `${O}() never runs ${N}, it runs ${O extends "all" | "one"
    ? "preFetch, fetch, postFetch and preSend"
    : O extends "create" | "update" ? "preFetch, fetch, postFetch, preSave, persist and preSend"
    : "preFetch, fetch, postFetch, preSave and persist"}`;

/** @internal The options of reads that an operation takes. A wrong name gets its problem as type. `H` is what was given. */
export type ReadInput<O extends OperationName, M, H> = Pick<ListInput<M, H>, OptionsRead[O]>;

/** @internal The options of a list. */
export interface ListInput<M, H> {
  /** Lists have pages, which clients choose with `?limit=`, and `?after=` or `?skip=`. */
  readonly page?: Exactly<"page", PageOptions, OptionIn<H, "page">> | undefined;
  /** The fields by which clients can sort, such as `?sort=-year,name`: no lists and no objects. */
  readonly sort?: CheckedNames<"sort", M, OptionIn<H, "sort">> | undefined;
  /** The fields that clients can choose, such as `?select=name,year`. */
  readonly select?: CheckedNames<"select", M, OptionIn<H, "select">> | undefined;
  /** The string fields in which `?search=` looks for words. */
  readonly search?:
    | CheckedNames<"search", M, OptionIn<H, "search">>
    | { readonly index: true }
    | undefined;
  /** The references that clients can replace by entities, such as `?populate=actors`. */
  readonly populate?: CheckedPopulate<M, OptionIn<H, "populate">> | undefined;
  /** Lists tell their total. */
  readonly count?: true | Exactly<"count", CountOptions, OptionIn<H, "count">> | undefined;
}

/** @internal Names of fields, or their problems. `L` is what was given. */
export type CheckedNames<U extends FieldUse, M, L> = L extends readonly unknown[]
  ? { readonly [I in keyof L]: CheckedName<U, M, L[I]> }
  : readonly FieldNames<U, M>[];

/** @internal A name of a field, or its problem. */
export type CheckedName<U extends FieldUse, M, N> = N extends FieldNames<U, M> ? N
  : N extends keyof M ? NameProblem<U, M, N>
  : FieldNames<U, M>;

/** @internal The option `populate`, or its problem. `P` is what was given. */
export type CheckedPopulate<M, P> = P extends readonly unknown[]
  ? "populate is an object, such as { director: true }"
  : IsKnown<M> extends false
    ? P extends object ? { readonly [K in keyof P]: true | PopulateInput<unknown, P[K]> }
    : PopulateFields<unknown>
  :
    & {
      readonly [K in FieldNames<"populate", M>]?:
        | true
        | PopulateInput<TargetOf<M, K>, OptionIn<P, K>>;
    }
    & {
      readonly [K in Exclude<keyof P & string, FieldNames<"populate", M>>]: K extends keyof M
        ? NameProblem<"populate", M, K>
        : `populate takes references, the class has no ${K}`;
    };

/** @internal The options of a populated reference to the model `T`. `X` is what was given. */
export type PopulateInput<T, X> =
  & Omit<Exactly<"populate", PopulateOptions, X>, "select">
  & { readonly select?: CheckedNames<"select", T, OptionIn<X, "select">> };

/** @internal Options `T`. Names that it does not have are problems. `X` is what was given. */
export type Exactly<N extends string, T, X> = [Exclude<keyof X, keyof T>] extends [never] ? T
  : T & { readonly [K in Exclude<keyof X & string, keyof T>]: `${N} has no option ${K}` };
