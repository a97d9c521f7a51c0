import type { Entity } from "../model/model_class.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { FrameworkRequest } from "./framework_request.ts";

/** A value or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/**
 * The earliest hook: `true` lets the request pass, anything else is a 403.
 *
 * @typeParam R The request.
 *
 * @example Twenty entities a page
 * ```ts
 * import type { PreFetch } from "@mongrove/mongrove";
 *
 * const firstPage: PreFetch = (req) => {
 *   req.framework.options.limit = 20;
 *   return true;
 * };
 * ```
 */
export type PreFetch<R = FrameworkRequest> = (req: R) => MaybePromise<boolean>;

/**
 * Replaces the default fetching: gives an entity, entities, or a query. The scope of the route is the hook's own matter.
 *
 * @typeParam R The request.
 *
 * @example Only what is shown
 * ```ts
 * import type { Fetch } from "@mongrove/mongrove";
 *
 * const shown: Fetch = async (req) => (await req.framework.model()).find({ shown: true });
 * ```
 */
export type Fetch<R = FrameworkRequest> = (req: R) => unknown;

/**
 * A hook that sees one entity and gives it back, another in its place, or `null` to reject it.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 *
 * @example A hook for every model that has a name
 * ```ts
 * import type { EntityHook } from "@mongrove/mongrove";
 *
 * const nameOnly: EntityHook<{ name: string }> = (_req, { name }) => ({ name });
 * ```
 */
export type EntityHook<E, R = FrameworkRequest> = (
  req: R,
  entity: E,
  previous?: E,
) => MaybePromise<object | null>;

/**
 * The hooks of one operation.
 *
 * @typeParam E The entity.
 * @typeParam R The request.
 */
export interface Hooks<E, R = FrameworkRequest> {
  /**
   * Whether the hooks of a read get plain instances of the class instead of Mongoose's documents.
   *
   * @default {false}
   */
  readonly lean?: boolean | undefined;
  /** Runs before any database call; anything but `true` is a 403. */
  readonly preFetch?: PreFetch<R>;
  /** Replaces the default fetching. */
  readonly fetch?: Fetch<R>;
  /** Runs once for each fetched entity; `null` drops it from a list and is a 404 for one. */
  readonly postFetch?: EntityHook<E, R>;
  /** Runs before a write, with the entity before the change as `previous`; `null` writes nothing and is a 403. */
  readonly preSave?: EntityHook<E, R>;
  /** Replaces the write. */
  readonly persist?: EntityHook<E, R>;
  /** Runs before the answer; `null` drops the entity from it. */
  readonly preSend?: EntityHook<E, R>;
}

/**
 * The hooks of an operation on a model.
 *
 * @typeParam M The model.
 */
export type HooksOf<M extends FrameworkModel> = Hooks<Entity<M>, FrameworkRequest<M>> & {
  readonly lean?: false | undefined;
};

/**
 * The hooks of a read on a model that get plain instances of its class.
 *
 * @typeParam M The model.
 */
export type LeanHooksOf<M extends FrameworkModel> = Hooks<M, FrameworkRequest<M>> & {
  readonly lean: true;
};

/** The names of the hooks. */
export type HookName = Exclude<keyof Hooks<unknown>, "lean">;

/** Hooks of which nothing is known yet but their names: generic ones stay generic. */
export type AnyHooks = { readonly [K in HookName]?: CallableFunction } & {
  readonly lean?: boolean | undefined;
};
