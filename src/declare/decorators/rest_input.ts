import type { Connection, SchemaOptions } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { HooksOf, LeanHooksOf, MaybePromise } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Returns } from "../operations/checked_hook.ts";
import type { Method } from "../operations/methods.ts";
import type { OperationName } from "../operations/operation.ts";
import type { ModelIn, RestOptions } from "./rest.ts";

/**
 * What a decorator decorates, as the compiler tells it; `undefined` where it does not.
 *
 * @typeParam D The decorator, as the compiler wants it.
 */
export type Decorated<D> = D extends (target: infer T, context: infer C) => infer R
  ? [R] extends [void] ? undefined
  : T extends abstract new () => infer M ? { readonly model: M }
  : C extends ClassFieldDecoratorContext<infer _This, infer V> ? { readonly value: V }
  : { readonly neither: true }
  : undefined;

/**
 * An operation that fits a model. The compiler prints the rule where one does not.
 *
 * @typeParam Rule The rule, in words.
 * @typeParam M The model.
 */
export interface MethodOf<Rule extends string, M extends FrameworkModel> {
  /** The operation. */
  readonly operation: OperationName;
  /** Its hooks. */
  readonly hooks: HooksOf<M> | LeanHooksOf<M>;
  /** Ties operations to the model in the eyes of the compiler; never there. */
  "~model"?(model: M): void;
}

/**
 * The operations of a model; of an identifier, which does not tell its model, any.
 *
 * @typeParam L The operations that were given.
 * @typeParam M The model.
 */
export type Operations<L, M> = {
  readonly [I in keyof L]: M extends FrameworkModel
    ? MethodOf<"a called operation, such as all(), with hooks of this model", M>
    : Method;
};

/**
 * The options that a class and a property share.
 *
 * @typeParam L The operations.
 * @typeParam M The model.
 * @typeParam R The route.
 */
export interface SharedOptions<L, M, R> {
  /** The path. */
  readonly route?: R;
  /** The operations to create. */
  readonly methods: Operations<L, M>;
  /** A trusted filter that binds every read and every write of this route. */
  readonly scope?: (
    req: FrameworkRequest<M extends FrameworkModel ? M : FrameworkModel>,
  ) => Returns<"scope returns a filter", QueryObject>;
}

/**
 * The options of `@rest` on a class.
 *
 * @typeParam M The model.
 * @typeParam L The operations.
 * @typeParam R The route.
 */
export interface RestOfClass<M, L, R> extends SharedOptions<L, M, R> {
  /** Mongoose's schema options, such as `{ timestamps: true }`. */
  readonly schemaOptions?: SchemaOptions;
  /** Supplies the connection of a request; called once, after `preFetch`. Connections are kept by the application. */
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
}

/**
 * The options of `@rest` on a property.
 *
 * @typeParam M The model that the property holds.
 * @typeParam L The operations.
 * @typeParam R The route.
 */
export interface RestOfProperty<M, L, R> extends SharedOptions<L, M, R> {}

/**
 * The options that `@rest` takes: those of what it decorates.
 *
 * @typeParam D The decorator, as the compiler wants it.
 * @typeParam O The operations, where what is decorated is not known.
 * @typeParam L The operations, where it is.
 * @typeParam R The route.
 * @internal
 */
export type RestInput<D, O extends Method, L, R> = Decorated<D> extends { readonly model: infer M }
  ? RestOfClass<M, L, R>
  : Decorated<D> extends { readonly value: infer V } ? RestOfProperty<ModelIn<NonNullable<V>>, L, R>
  : Omit<RestOptions<O>, "route"> & { readonly route?: R };

/**
 * What is wrong with an `@rest` as a whole, in words.
 *
 * @internal
 *
 * @typeParam D The decorator, as the compiler wants it.
 * @typeParam R The route.
 * @typeParam L The operations.
 */
export type RestProblem<D, R, L> = IsLegacy<D> extends true
  ? '@rest needs standard decorators: remove "experimentalDecorators"'
  : L extends readonly [] ? "methods is empty: list operations, such as all()"
  : Decorated<D> extends { readonly model: infer M }
    ? M extends FrameworkModel
      ? R extends string ? unknown : '@rest of a class needs a route, such as "/movies"'
    : "@rest belongs to a class that extends FrameworkModel"
  : unknown;

/**
 * Whether the compiler wants a legacy decorator, which gets no context.
 *
 * @typeParam D The decorator, as the compiler wants it.
 * @internal
 */
export type IsLegacy<D> = D extends (...args: infer A) => unknown
  ? A extends readonly [unknown] | readonly [unknown, string | symbol, ...unknown[]] ? true : false
  : false;
