import type { HookName, OperationOptions } from "../hooks/hooks.ts";
import type { ReadOptions } from "../hooks/read_options.ts";
import type { AnyHook, NeverRun } from "./checked_hook.ts";
import type { OperationName } from "./operation.ts";

/** @internal The hooks that each operation runs. `OPERATIONS` has them as data. */
export interface HooksRun {
  readonly all: "preFetch" | "fetch" | "postFetch" | "preSend";
  readonly one: "preFetch" | "fetch" | "postFetch" | "preSend";
  readonly create: HookName;
  readonly update: HookName;
  readonly remove: Exclude<HookName, "preSend">;
  readonly removeAll: Exclude<HookName, "preSend">;
}

/** @internal The options of reads that each operation has. */
export interface OptionsRead {
  readonly all: keyof ReadOptions;
  readonly one: "select" | "populate";
  readonly create: never;
  readonly update: never;
  readonly remove: never;
  readonly removeAll: never;
}

/** @internal Errors for hooks that the operation never runs, for options that it never reads, and for other names. */
export type NoOtherHooks<O extends OperationName, H> =
  & { readonly [N in Exclude<HookName, HooksRun[O]>]?: Unrun<O, N, H> }
  & { readonly [N in Exclude<keyof ReadOptions, OptionsRead[O]>]?: Unread<O, N, H> }
  & { readonly [N in Exclude<NameIn<H>, KnownName>]: NeverRun<NeverRunProblem<O, N>> };

/**
 * The names that an operation may be given.
 *
 * @internal
 */
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
