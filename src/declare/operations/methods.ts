import type { FrameworkModel } from "../model/framework_model.ts";
import type { AnyHooks } from "../hooks/hooks.ts";
import type {
  Given,
  GivenHooks,
  HooksInput,
  KeptHooks,
  NoOptions,
  UnnamedModel,
} from "./hooks_input.ts";
import type { OperationName } from "./operation.ts";

/** An operation with its hooks: an element of the option `methods` of `@rest`. */
export interface Method<H = AnyHooks, M extends FrameworkModel = UnnamedModel> {
  /** The name of the operation, or of the action. */
  readonly operation: string;
  /** The hooks of the operation. */
  readonly hooks: H;
  /** Never set. It lets TypeScript check the hooks against the model. */
  "~model"?(model: M): void;
}

/**
 * @internal A function such as {@linkcode all}, which takes hooks and returns an element of the option `methods`.
 *
 * Inside `@rest`, inline hooks get their types from the decorated class. Elsewhere, name the model, as in
 * `all<Movie>({ … })`. `@rest` checks hooks with explicit parameter types, and the names of fields, against its class.
 */
export interface MethodFunction<O extends OperationName = OperationName>
  extends MethodWithOptions<O> {
  /** Without hooks. */
  <M extends FrameworkModel = UnnamedModel>(): Method<NoOptions, M>;
}

/** @internal The same for an operation that needs options. */
export interface MethodWithOptions<O extends OperationName> {
  /** With hooks. */
  <
    M extends FrameworkModel = UnnamedModel,
    const H extends HooksInput<O, M, H> | undefined = never,
  >(
    hooks: GivenHooks<O, Given<M>, H>,
  ): Method<KeptHooks<O, Given<M>, H>, M>;
}

/** `GET {route}`: lists entities. The parameter `q` of the URL is a filter. */
export const all: MethodFunction<"all"> = describeMethod("all");

/** `GET {route}/:id`: reads one entity. */
export const one: MethodFunction<"one"> = describeMethod("one");

/** `POST {route}`: creates an entity from the JSON body. */
export const create: MethodFunction<"create"> = describeMethod("create");

/** `PATCH {route}/:id`: changes an entity. The body is a JSON merge patch (RFC 7396). */
export const update: MethodFunction<"update"> = describeMethod("update");

/** `DELETE {route}/:id`: removes an entity. */
export const remove: MethodFunction<"remove"> = describeMethod("remove");

/** `DELETE {route}`: removes all entities, or those that the parameter `q` of the URL selects. */
export const removeAll: MethodFunction<"removeAll"> = describeMethod("removeAll");

/**
 * `PATCH {route}?q=`: changes all entities that the parameter `q` selects, or none. The body is a JSON merge patch of the
 * fields that are listed.
 */
export const updateAll: MethodWithOptions<"updateAll"> = describeMethod("updateAll");

/**
 * `PUT {route}/:id`: replaces what clients can set of an entity, or creates it. The path names it by `_id`, or by a unique
 * field. A field that the body leaves out gets its default or is cleared; what clients cannot see or set stays. The answer
 * is a 201 for a new entity. `If-None-Match: *` creates only, `If-Match` replaces only. Without `If-Match`, an update of
 * others between the read and the write of a request with hooks is overwritten, and hooks may run again for what is there
 * then.
 */
export const replace: MethodFunction<"replace"> = describeMethod("replace");

function describeMethod<O extends OperationName>(operation: O): MethodFunction<O> {
  return (hooks?: AnyHooks): Method<never> => ({ operation, hooks: { ...hooks } as never });
}
