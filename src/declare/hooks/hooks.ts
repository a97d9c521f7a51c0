import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import type { FrameworkRequest } from "./framework_request.ts";
import type { FieldNames } from "../model/field_names.ts";
import type { OperationWords } from "../operations/operation.ts";
import type { WriteOptions } from "../operations/write_options.ts";
import type { ReadOptions } from "./read_options.ts";

/** @internal A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** A hook that runs before any database call. Only `true` lets the request through. Any other result answers 403. */
export type PreFetch<R = FrameworkRequest> = (req: R) => MaybePromise<boolean>;

/** A hook that replaces the default read, without its scope: it returns an entity, several, or a Mongoose query. */
export type Fetch<R = FrameworkRequest> = (req: R) => unknown;

/**
 * A hook that gets one entity. It returns the entity, another object in its place, or `null` to reject it.
 *
 * In hooks of a write, `previous` is the entity before the change.
 */
export type EntityHook<E, R = FrameworkRequest> = (
  req: R,
  entity: E,
  previous?: E,
) => MaybePromise<object | null>;

/** @internal The option that limits the filters of clients. */
export interface FilterOptions<M = unknown> {
  /**
   * The paths that the URL parameter `q` may name, such as `"state"` or `"address.city"`. The default is all that clients
   * see. A path of an object does not allow those inside of it; one of a free-form field or a Map does.
   */
  readonly filter?: readonly FieldNames<"filter", M>[] | undefined;
}

/** Options of an operation that are not hooks. */
export interface OperationOptions extends OperationWords, FilterOptions {
  /**
   * The URL parameters that hooks read. `removeAll()` refuses requests with other parameters. With
   * `initialize({ parameters: "strict" })`, all operations do. A sub-route also accepts the parameters of its parents'
   * `one()`.
   */
  readonly parameters?: readonly string[] | undefined;
}

/** The hooks of one operation, and its options. */
export interface Hooks<E, R = FrameworkRequest> extends OperationOptions {
  /** Whether hooks of `all()` and `one()` get instances of the class, without Mongoose's methods, and no documents. */
  readonly lean?: boolean | undefined;
  /** Runs before any database call. Any result except `true` answers 403. */
  readonly preFetch?: PreFetch<R>;
  /** Replaces the default read. */
  readonly fetch?: Fetch<R>;
  /** Runs once for each entity that was read. `null` removes it from a list, and answers 404 for a single entity. */
  readonly postFetch?: EntityHook<E, R>;
  /** Runs before each write. `previous` is the entity before the change. `null` prevents the write and answers 403. */
  readonly preSave?: EntityHook<E, R>;
  /** Replaces the default write. */
  readonly persist?: EntityHook<E, R>;
  /** Runs once for each entity of the answer. `null` removes it from a list; else it is a 404, or a 204 of a write. */
  readonly preSend?: EntityHook<E, R>;
}

/** The hooks of one operation on a model. They get Mongoose documents. */
export type HooksOf<M extends FrameworkModel> =
  & Hooks<Entity<M>, FrameworkRequest<M>>
  & ReadOptions<M>
  & WriteOptions<M>
  & FilterOptions<M>
  & { readonly lean?: false | undefined };

/** The hooks of `all()` or `one()` on a model with `lean: true`. They get instances of the class. */
export type LeanHooksOf<M extends FrameworkModel> =
  & Hooks<M, FrameworkRequest<M>>
  & ReadOptions<M>
  & FilterOptions<M>
  & { readonly lean: true };

/** The names of the hooks. */
export type HookName = Exclude<keyof Hooks<unknown>, "lean" | keyof OperationOptions>;

/** @internal Hooks of any model. Their types are not known, so that generic hooks stay generic. */
export type AnyHooks =
  & OperationOptions
  & ReadOptions
  & WriteOptions
  & { readonly [K in HookName]?: CallableFunction }
  & { readonly lean?: boolean | undefined };

/** @internal The entity type that several hooks all accept. */
export type EntityOf<F> = Together<
  F extends (req: never, entity: infer E, ...rest: never[]) => unknown ? (each: E) => void : never
>;

/** @internal The request type that several hooks all accept. */
export type RequestOf<F> = Together<
  F extends (req: infer R, ...rest: never[]) => unknown ? (each: R) => void : never
>;

/** @internal The intersection of the parameter types of a union of functions. */
export type Together<F> = [F] extends [(each: infer I) => void] ? I : never;
