import type { FrameworkRequest } from "../hooks/framework_request.ts";
import type { HookName } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Entity } from "../model/model_class.ts";

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

/** @internal What a hook must return. */
export type HookResult<N extends HookName> = N extends "preFetch"
  ? "return true to let the request pass"
  : "return the entity, another object or null";
