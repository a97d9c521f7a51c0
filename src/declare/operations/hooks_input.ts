import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { Fetch, HookName } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { DocumentHook, HookProblem, InstanceHook, PreFetchHook } from "./checked_hook.ts";
import type { HooksRun, NoOtherHooks } from "./hooks_run.ts";
import type { OperationName } from "./operation.ts";

/**
 * The model of hooks that nothing ties to a model yet: `@rest` holds them against its class.
 *
 * @typeParam Hint What the compiler prints beside it.
 */
export interface UnnamedModel<Hint extends string = "name the model, as in all<Movie>({ })">
  extends FrameworkModel {
  /** Tells it from every other model; never there. */
  readonly "~unnamed"?: never;
}

/**
 * The hooks that an operation takes, and no others.
 *
 * @typeParam O The operation.
 * @typeParam M The model, {@linkcode UnnamedModel} where none is known.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type HooksInput<O extends OperationName, M, H> = HooksFor<O, M, H> & NoOtherHooks<O, H>;

/**
 * The hooks that an operation takes.
 *
 * @typeParam O The operation.
 * @typeParam M The model, {@linkcode UnnamedModel} where none is known.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type HooksFor<O extends OperationName, M, H> = "~unnamed" extends keyof M
  ? HooksOfAnyModel<O, H>
  : M extends FrameworkModel ? NamedHooks<O, M, H>
  : never;

/**
 * The hooks that an operation of a known model takes.
 *
 * @typeParam O The operation.
 * @typeParam M The model.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type NamedHooks<O extends OperationName, M extends FrameworkModel, H> =
  | DocumentHooks<O, M, H>
  | (O extends "all" | "one" ? InstanceHooks<O, M, H> : never);

/**
 * No hooks.
 *
 * @internal
 */
export type NoHooks = Readonly<Record<never, never>>;

/**
 * The hooks that were given, or those that an operation takes where the model is named: also by a type parameter, of which
 * nothing can be asked.
 *
 * @typeParam O The operation.
 * @typeParam M The model.
 * @typeParam H The hooks; `never` where they are not inferred.
 * @internal
 */
export type GivenHooks<O extends OperationName, M, H> = [H] extends [never]
  ? NamedHooks<O, M extends FrameworkModel ? M : never, NoHooks>
  : H;

/**
 * The hooks that an operation keeps.
 *
 * @typeParam O The operation.
 * @typeParam M The model.
 * @typeParam H The hooks; `never` where they are not inferred.
 * @internal
 */
export type KeptHooks<O extends OperationName, M, H> = [H] extends [never]
  ? "~unnamed" extends keyof M ? NoHooks : HooksFor<O, M, NoHooks>
  : Given<NonNullable<H>>;

/**
 * The hooks of an operation that get documents.
 *
 * @typeParam O The operation.
 * @typeParam M The model.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type DocumentHooks<O extends OperationName, M extends FrameworkModel, H> =
  & { readonly lean?: false | undefined }
  & RequestHooks<M, H>
  & { readonly [N in EntityHookName<O>]?: DocumentHook<HookProblem<N, HookIn<H, N>>, M> };

/**
 * The hooks of a read that get plain instances of the class.
 *
 * @typeParam O The operation.
 * @typeParam M The model.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type InstanceHooks<O extends OperationName, M extends FrameworkModel, H> =
  & { readonly lean: true }
  & RequestHooks<M, H>
  & { readonly [N in EntityHookName<O>]?: InstanceHook<HookProblem<N, HookIn<H, N>>, M> };

/**
 * The hooks that get the request alone.
 *
 * @typeParam M The model.
 * @typeParam H The hooks that were given.
 */
export interface RequestHooks<M extends FrameworkModel, H> {
  /** Runs before any database call; anything but `true` is a 403. */
  readonly preFetch?: PreFetchHook<HookProblem<"preFetch", HookIn<H, "preFetch">>, M>;
  /** Replaces the default fetching. */
  readonly fetch?: Fetch<FrameworkRequest<M>>;
}

/**
 * Hooks whose model is not known: only what they return is checked here.
 *
 * @typeParam O The operation.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type HooksOfAnyModel<O extends OperationName, H> =
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

/**
 * A type that is told elsewhere: nothing is inferred from here.
 *
 * @typeParam T The type.
 * @internal
 */
export type Given<T> = [T][T extends unknown ? 0 : never];

/**
 * The hooks of an operation that get an entity.
 *
 * @typeParam O The operation.
 * @internal
 */
export type EntityHookName<O extends OperationName> = Exclude<HooksRun[O], "preFetch" | "fetch">;

/**
 * One of the hooks that were given.
 *
 * @typeParam H The hooks.
 * @typeParam N Its name.
 * @internal
 */
export type HookIn<H, N extends HookName> = N extends keyof H ? NonNullable<H[N]> : undefined;

/**
 * A hook of another model, which returns what it has to.
 *
 * @typeParam N The name of the hook.
 * @typeParam F The hook.
 * @internal
 */
export type OtherModel<N extends HookName, F> = HookProblem<N, F> extends `${string} model${string}`
  ? CallableFunction
  : never;
