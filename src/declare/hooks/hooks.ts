import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import type { FrameworkRequest } from "./framework_request.ts";
import type { FieldNames } from "../model/field_names.ts";
import type { OperationWords } from "../operations/operation.ts";
import type { ReadOptions, WriteOptions } from "../options.ts";

/** @internal */
export type MaybePromise<T> = T | Promise<T>;

/** A hook that runs before any database call and returns whether the request may continue. */
export type PreFetch<R = FrameworkRequest> = (req: R) => MaybePromise<boolean>;

/**
 * A hook that gets one entity, and returns the entity, another object in its place, or `null` to reject the entity.
 *
 * In hooks of a write, `previous` is the entity before the change.
 */
export type EntityHook<E, R = FrameworkRequest> = (
  req: R,
  entity: E,
  previous?: E,
) => MaybePromise<object | null>;

/** @internal */
export interface FilterOptions<M = unknown> {
  /**
   * The paths that the URL parameter `q` may name, such as `"state"` or `"address.city"`. By default, these are all
   * paths that clients see. `"address"` does not allow `"address.city"`, unless the field is free-form or a Map. A path
   * through a reference, such as `"author.name"`, must lead to a single value, and matches only authors in the scope of
   * their class.
   */
  readonly filter?: readonly FieldNames<"filter", M>[] | undefined;
}

/** @internal */
export interface OperationOptions extends OperationWords, FilterOptions {
  /**
   * The URL parameters that hooks read. `updateAll()` and `removeAll()` refuse other parameters, because a misspelled
   * `q` would select all entities. With `initialize({ strict: true })`, all operations do. A sub-route also accepts the
   * parameters of its parents' `one()`.
   */
  readonly parameters?: readonly string[] | undefined;
  /**
   * Whether requests skip the `guard` of `Framework.initialize()`. The hooks of the operation still run. Sub-routes do
   * not inherit it.
   */
  readonly open?: boolean | undefined;
}

/** @internal */
export interface FetchHooks<E, R> {
  /** Decides whether a request may run, before any database call. Any result except `true` answers 403. */
  readonly preFetch?: PreFetch<R>;
  /**
   * Reads the entities instead of the framework, and returns an entity, several entities, or a Mongoose query. The
   * `scope` does not limit the result.
   */
  readonly fetch?: (req: R) => unknown;
  /**
   * Runs once for each entity that was read. `null` removes the entity from a list, and answers 404 for a single
   * entity.
   */
  readonly postFetch?: EntityHook<E, R>;
}

/** The hooks of an operation, in the order in which they run, and its options. */
export interface Hooks<E, R = FrameworkRequest> extends OperationOptions, FetchHooks<E, R> {
  /**
   * Whether hooks of `all()` and `one()` get instances of the class, without Mongoose's methods, instead of documents.
   * Refused where `transform` or `toJSON` shows other values than are stored.
   */
  readonly lean?: boolean | undefined;
  /** Runs before each write. `previous` is the entity before the change. `null` prevents the write and answers 403. */
  readonly preSave?: EntityHook<E, R>;
  /** Writes the entity instead of the framework. The `scope` does not limit the writes of the hook. */
  readonly persist?: EntityHook<E, R>;
  /**
   * Runs once for each entity of the answer. `null` removes the entity from a list. For a single entity, `null` answers
   * 404 to a read and 204 to a write.
   */
  readonly preSend?: EntityHook<E, R>;
}

/** The hooks and options of an operation on the model `M`. The hooks get Mongoose documents. */
export type HooksOf<M extends FrameworkModel> =
  & Hooks<Entity<M>, FrameworkRequest<M>>
  & ReadOptions<M>
  & WriteOptions<M>
  & FilterOptions<M>
  & { readonly lean?: false | undefined };

/** The hooks and options of `all()` or `one()` with `lean: true`. The hooks get instances of the class. */
export type LeanHooksOf<M extends FrameworkModel> =
  & Hooks<M, FrameworkRequest<M>>
  & ReadOptions<M>
  & FilterOptions<M>
  & { readonly lean: true };

/** @internal */
export type HookName = Exclude<keyof Hooks<unknown>, "lean" | keyof OperationOptions>;

/**
 * @internal The hooks and options of an operation on any model. `CallableFunction` has no signature, so that TypeScript
 * keeps the type parameters of a generic hook.
 */
export type AnyHooks =
  & OperationOptions
  & ReadOptions
  & WriteOptions
  & { readonly [K in HookName]?: CallableFunction }
  & { readonly lean?: boolean | undefined };

/** @internal */
export type EntityOf<F> = IntersectionOf<
  F extends (req: never, entity: infer E, ...rest: never[]) => unknown ? (each: E) => void : never
>;

/** @internal */
export type RequestOf<F> = IntersectionOf<
  F extends (req: infer R, ...rest: never[]) => unknown ? (each: R) => void : never
>;

/** @internal The type of an argument that every function of a union accepts. */
export type IntersectionOf<F> = [F] extends [(each: infer I) => void] ? I : never;
