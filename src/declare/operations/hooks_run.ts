import type { HookName } from "../hooks/hooks.ts";
import type { AnyHook, NeverRun } from "./checked_hook.ts";
import type { OperationName } from "./operation.ts";

/** The hooks that each operation runs. */
export interface HooksRun {
  /** A list. */
  readonly all: "preFetch" | "fetch" | "postFetch" | "preSend";
  /** One entity. */
  readonly one: "preFetch" | "fetch" | "postFetch" | "preSend";
  /** A new entity. */
  readonly create: HookName;
  /** A change of one entity. */
  readonly update: HookName;
  /** The removal of one entity. */
  readonly remove: Exclude<HookName, "preSend">;
  /** The removal of what is selected. */
  readonly removeAll: Exclude<HookName, "preSend">;
}

/**
 * What no hook of the operation is: hooks that it never runs, and other names.
 *
 * @typeParam O The operation.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type NoOtherHooks<O extends OperationName, H> =
  & { readonly [N in Exclude<HookName, HooksRun[O]>]?: Unrun<O, N, H> }
  & { readonly [N in Exclude<NameIn<H>, HookName | "lean">]: NeverRun<NeverRunProblem<O, N>> };

/**
 * A hook that the operation never runs. One that a variable may hold or not is left to the start-up.
 *
 * @typeParam O The operation.
 * @typeParam N The name of the hook.
 * @typeParam H The hooks that were given.
 * @internal
 */
export type Unrun<O extends OperationName, N extends string, H> = N extends keyof H
  ? Partial<Pick<H, N>> extends Pick<H, N> ? AnyHook : NeverRun<NeverRunProblem<O, N>>
  : NeverRun<NeverRunProblem<O, N>>;

/**
 * The names of what was given, where they are known.
 *
 * @typeParam H What was given.
 * @internal
 */
export type NameIn<H> = string extends keyof H ? never : keyof H & string;

/**
 * What is wrong with a hook that its operation never runs, in words.
 *
 * @typeParam O The operation.
 * @typeParam N The name of the hook.
 * @internal
 */
export type NeverRunProblem<O extends OperationName, N extends string> =
  `${O}() never runs ${N}, it runs ${O extends "all" | "one"
    ? "preFetch, fetch, postFetch and preSend"
    : O extends "create" | "update" ? "preFetch, fetch, postFetch, preSave, persist and preSend"
    : "preFetch, fetch, postFetch, preSave and persist"}`;
