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

/** An operation with its hooks, as an element of the option `methods` of `@rest`. */
export interface Method<H = AnyHooks, M extends FrameworkModel = UnnamedModel> {
  /** The name of the operation or action. */
  readonly operation: string;
  /** The hooks and options with which the operation was declared. */
  readonly hooks: H;
  /** Exists in types only, so that TypeScript checks the hooks against the model. */
  "~model"?(model: M): void;
}

/**
 * @internal A function such as {@linkcode all}.
 *
 * Inside `@rest`, TypeScript derives the types of inline hooks from the decorated class. Elsewhere, name the model, as
 * in `all<Movie>({ … })`.
 */
export interface MethodFunction<O extends OperationName = OperationName>
  extends MethodWithOptions<O> {
  <M extends FrameworkModel = UnnamedModel>(): Method<NoOptions, M>;
}

/** @internal A function such as {@linkcode updateAll}, which has a required option. */
export interface MethodWithOptions<O extends OperationName> {
  <
    M extends FrameworkModel = UnnamedModel,
    const H extends HooksInput<O, M, H> | undefined = never,
  >(
    hooks: GivenHooks<O, Given<M>, H>,
  ): Method<KeptHooks<O, Given<M>, H>, M>;
}

/** Declares `GET {route}`, which lists entities. The URL parameter `q` is a filter. */
export const all: MethodFunction<"all"> = describeMethod("all");

/** Declares `GET {route}/:id`, which reads one entity. */
export const one: MethodFunction<"one"> = describeMethod("one");

/** Declares `POST {route}`, which creates an entity from the JSON body. */
export const create: MethodFunction<"create"> = describeMethod("create");

/** Declares `PATCH {route}/:id`, which changes an entity. The body is a JSON merge patch (RFC 7396). */
export const update: MethodFunction<"update"> = describeMethod("update");

/** Declares `DELETE {route}/:id`, which removes an entity. */
export const remove: MethodFunction<"remove"> = describeMethod("remove");

/** Declares `DELETE {route}`, which removes all entities, or only the selection of the URL parameter `q`. */
export const removeAll: MethodFunction<"removeAll"> = describeMethod("removeAll");

/**
 * Declares `PATCH {route}?q=`, which changes the entities that `q` selects. By default, all are changed or none. The
 * body is a JSON merge patch of the fields in the option `fields`.
 */
export const updateAll: MethodWithOptions<"updateAll"> = describeMethod("updateAll");

/**
 * Declares `PUT {route}/:id`, which replaces an entity or creates it. The path names the entity by `_id` or by a unique
 * field. A field that the body leaves out gets its default or is cleared. Fields that clients cannot see or set keep
 * their values. A new entity answers 201. With `If-None-Match: *`, the request only creates, and with `If-Match`, it
 * only replaces.
 *
 * Without `If-Match`, the request overwrites changes of other clients. If another client changes the entity while
 * the request runs, the framework tries again, and the hooks may run again.
 */
export const replace: MethodFunction<"replace"> = describeMethod("replace");

function describeMethod<O extends OperationName>(operation: O): MethodFunction<O> {
  return (hooks?: AnyHooks): Method<never> => ({ operation, hooks: { ...hooks } as never });
}
