import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Fetch, HookName, OperationOptions } from "../hooks/hooks.ts";
import type { ReadOptions } from "../hooks/read_options.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { DocumentHook, HookProblem, InstanceHook, PreFetchHook } from "./checked_hook.ts";
import type { HooksRun, NoOtherHooks } from "./hooks_run.ts";
import type { OperationName } from "./operation.ts";
import type { ReadInput } from "./read_input.ts";

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
