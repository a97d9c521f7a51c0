import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { HookName } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Entity } from "../model/model_class.ts";

/**
 * What a function returns, or a promise of it. The compiler prints the rule where a function returns something else.
 *
 * @typeParam Rule The rule, in words.
 * @typeParam T The value.
 */
export type Returns<Rule extends string, T> = T | Promise<T>;

/**
 * A `preFetch` hook. The compiler prints what is wrong with a hook that is none.
 *
 * @typeParam Problem What is wrong, in words.
 * @typeParam M The model.
 */
export interface PreFetchHook<Problem extends string, M extends FrameworkModel> {
  (req: FrameworkRequest<M>): Returns<"preFetch returns true to let the request pass", boolean>;
}

/**
 * A hook that gets documents. The compiler prints what is wrong with a hook that is none.
 *
 * @typeParam Problem What is wrong, in words.
 * @typeParam M The model.
 */
export interface DocumentHook<Problem extends string, M extends FrameworkModel> {
  (
    req: FrameworkRequest<M>,
    entity: Entity<M>,
    previous?: Entity<M>,
  ): Returns<"a hook returns the entity, another object or null", object | null>;
}

/**
 * A hook that gets plain instances of the class. The compiler prints what is wrong with a hook that is none.
 *
 * @typeParam Problem What is wrong, in words.
 * @typeParam M The model.
 */
export interface InstanceHook<Problem extends string, M extends FrameworkModel> {
  (
    req: FrameworkRequest<M>,
    entity: M,
    previous?: M,
  ): Returns<"a hook returns the entity, another object or null", object | null>;
}

/** A hook of which nothing is asked. */
export interface AnyHook {
  /** Whatever it expects and gives. */
  // deno-lint-ignore no-explicit-any -- it types the parameters of a function whose name alone is wrong
  (req: any, entity: any, previous?: any): any;
}

/**
 * A hook that the operation never runs: no function is one, and the compiler prints why.
 *
 * @typeParam Problem What is wrong, in words.
 */
export interface NeverRun<Problem extends string> extends AnyHook {
  /** No function has it. */
  readonly "never runs": Problem;
}

/**
 * What is wrong with a hook that does not fit, in words.
 *
 * @typeParam N The name of the hook.
 * @typeParam F The hook.
 * @internal
 */
export type HookProblem<N extends HookName, F> = F extends (...args: never) => infer R
  ? [R] extends [undefined | void | Promise<undefined | void>]
    ? `${N} returns nothing: ${HookResult<N>}`
  : undefined extends Awaited<R> ? `${N} may return nothing: ${HookResult<N>}`
  : [Awaited<R>] extends [N extends "preFetch" ? boolean : object | null]
    ? `this ${N} expects another model`
  : `${N} returns something else: ${HookResult<N>}`
  : `${N} expects this model: ${HookResult<N>}`;

/**
 * What a hook has to return, in words.
 *
 * @typeParam N The name of the hook.
 * @internal
 */
export type HookResult<N extends HookName> = N extends "preFetch"
  ? "return true to let the request pass"
  : "return the entity, another object or null";
