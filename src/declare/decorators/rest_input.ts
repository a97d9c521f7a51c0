import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { HooksOf, LeanHooksOf } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Returns } from "../operations/checked_hook.ts";
import type { Method } from "../operations/methods.ts";
import type { OperationName } from "../operations/operation.ts";
import type { ModelIn, RestOptions } from "./rest.ts";

/** @internal What is decorated, or `undefined` if TypeScript does not infer it. */
export type Decorated<D> = D extends (target: infer T, context: infer C) => infer R
  ? [R] extends [void] ? undefined
  : T extends abstract new () => infer M ? { readonly model: M }
  : C extends ClassFieldDecoratorContext<infer _This, infer V> ? { readonly value: V }
  : { readonly neither: true }
  : undefined;

/** @internal An operation whose hooks accept a model. Otherwise TypeScript prints the rule. */
export interface MethodOf<Rule extends string, M extends FrameworkModel> {
  readonly operation: OperationName;
  readonly hooks: HooksOf<M> | LeanHooksOf<M>;
  /** Never set. It lets TypeScript check the hooks against the model. */
  "~model"?(model: M): void;
}

/** @internal The operations `L` on a model. Any operations are accepted if the model is not known. */
export type Operations<L, M> = {
  readonly [I in keyof L]: M extends FrameworkModel
    ? MethodOf<"a called operation, such as all(), with hooks and fields of this model", M>
    : Method;
};

/** @internal The options that a class and a property share. */
export interface SharedOptions<L, M, R> {
  /** The path. */
  readonly route?: R;
  /** The operations that clients can call. */
  readonly methods: Operations<L, M>;
  /**
   * Returns a filter that every read and every write of this route must match. It may use hidden fields. It does not apply
   * to what your own `fetch` and `persist` hooks read and write.
   */
  readonly scope?: (
    req: FrameworkRequest<M extends FrameworkModel ? M : FrameworkModel>,
  ) => Returns<"scope returns a filter", QueryObject>;
  /**
   * With `"required"`, `update()` and `remove()` answer 428 to requests without the header `If-Match`. Its value is the
   * `ETag` of the entity as the client has read it. If the entity has changed since, the answer is 412.
   *
   * @default {undefined}
   */
  readonly concurrency?: "required" | undefined;
}

/** @internal The options of `@rest` on a class. */
export interface RestOfClass<M, L, R>
  extends SharedOptions<L, M, R>, Pick<RestOptions, "schemaOptions" | "getConnection"> {}

/** @internal The options of `@rest` on a property. */
export interface RestOfProperty<M, L, R> extends SharedOptions<L, M, R> {}

/** @internal The options of `@rest` on what is decorated. */
export type RestInput<D, O extends Method, L, R> = Decorated<D> extends { readonly model: infer M }
  ? RestOfClass<M, L, R>
  : Decorated<D> extends { readonly value: infer V } ? RestOfProperty<ModelIn<NonNullable<V>>, L, R>
  : Omit<RestOptions<O>, "route"> & { readonly route?: R };

/** @internal The problem of an `@rest` that no single option has. */
export type RestProblem<D, R, L> = IsLegacy<D> extends true
  ? '@rest needs standard decorators: remove "experimentalDecorators"'
  : L extends readonly [] ? "methods is empty: list operations, such as all()"
  : Decorated<D> extends { readonly model: infer M }
    ? M extends FrameworkModel
      ? R extends string ? unknown : '@rest of a class needs a route, such as "/movies"'
    : "@rest belongs to a class that extends FrameworkModel"
  : unknown;

/** @internal Whether the compiler is set to legacy decorators, which get no context. */
export type IsLegacy<D> = D extends (...args: infer A) => unknown
  ? A extends readonly [unknown] | readonly [unknown, string | symbol, ...unknown[]] ? true : false
  : false;
