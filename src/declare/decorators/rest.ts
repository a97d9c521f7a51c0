import type { Connection, SchemaOptions } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { HooksOf, LeanHooksOf, MaybePromise } from "../hooks/hooks.ts";
import type { NamedFilter } from "../model/field_names.ts";
import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import { recordsOf, registerModel, type RestRecord } from "../model/records.ts";
import type { ModelQuery } from "../operations/action.ts";
import type { Returns } from "../operations/hooks_input.ts";
import type { Decorated } from "./prop_input.ts";
import type { ClassFeatures, LifecycleOptions } from "../options.ts";
import type { Method } from "../operations/methods.ts";

/**
 * Options of {@linkcode rest}: the path of a route, its operations, and the entities that it serves.
 *
 * @example Limit users to their own entities
 * ```ts
 * import { all, create, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/notes",
 *   methods: [all(), create()],
 *   scope: (req) => ({ owner: req.headers["x-user"] ?? "nobody" }),
 * })
 * class Note extends FrameworkModel {
 *   @prop({ required: true })
 *   owner!: string;
 * }
 * ```
 */
export interface RestOptions<
  O extends Method = Method,
  M extends FrameworkModel = FrameworkModel,
> extends ClassFeatures<M> {
  /**
   * The path of the model, such as `/movies`. On a property, the path below the parent entity, by default `/` and the
   * name of the property.
   */
  readonly route: string;
  /** The operations and actions that clients can call, at least one. */
  readonly methods: readonly O[];
  /** Schema options of Mongoose, such as `{ timestamps: true }`. They override the static `schemaOptions`. */
  readonly schemaOptions?: SchemaOptions;
  /** Returns the connection for a request, after the `preFetch` hooks. The application must open and close it. */
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
  /**
   * Returns a filter that every read and write of this route must match. `fetch` and `persist` hooks must apply the
   * filter themselves. The filter may name hidden fields.
   */
  readonly scope?: (req: FrameworkRequest<M>) => Returns<"scope returns a filter", QueryObject>;
  /**
   * Whether a write of one entity needs the header `If-Match` with the `ETag` that the client has read. Without the
   * header, the answer is 428. If the entity has changed since, it is 412. A `PUT` that creates an entity needs none.
   * The routes of properties do not inherit it.
   */
  readonly ifMatch?: boolean | undefined;
  /**
   * Whether requests to these operations skip the `guard` of `Framework.initialize()`. An operation can override this,
   * and sub-routes do not inherit it.
   */
  readonly open?: boolean | undefined;
  /**
   * Whether references to the class follow this `@rest`. Its `scope` then selects the entities that references can name
   * and show. With `strict: true`, its hooks also run before the sub-route of a reference writes an entity. Required if
   * a referenced class has several `@rest`, and any has a scope.
   */
  readonly main?: boolean | undefined;
}

/** @internal */
export type Accepts<M, O extends Method> = M extends FrameworkModel
  ? O["hooks"] extends HooksOf<M> | LeanHooksOf<M> ? M
  : { "a hook or the name of a field expects another model": O["hooks"] }
  : never;

/** @internal Options of {@linkcode rest} on a property, which declare a sub-route for its entities. */
export interface PartRestOptions<O extends Method = Method> extends
  Omit<
    RestOptions<O>,
    "route" | "schemaOptions" | "getConnection" | "main" | keyof ClassFeatures
  >,
  Partial<Pick<RestOptions<O>, "route">> {}

/** @internal */
export interface RouteOption {
  /**
   * The route of the `@rest` to use. `mcp()` needs it if the class has several `@rest`. `Framework.queryFor()` needs it
   * if several have a scope or `getConnection`, and none is `main`.
   */
  readonly route?: string;
}

/** @internal */
export type RestDecorator<O extends Method> = <M extends FrameworkModel>(
  target: abstract new () => M & Accepts<M, O>,
  context: ClassDecoratorContext<abstract new () => M>,
) => void;

/** @internal */
export type PartRestDecorator<O extends Method> = <This extends FrameworkModel, V>(
  value: undefined,
  context: ClassFieldDecoratorContext<This, V> & AcceptsPart<V, O>,
) => void;

/** @internal */
export type AcceptsPart<V, O extends Method> = ModelIn<NonNullable<V>> extends infer M
  ? M extends FrameworkModel ? Accepts<M, O> extends M ? unknown : Accepts<M, O> : unknown
  : never;

/** @internal */
export type ModelIn<V> = V extends readonly (infer I)[] ? ModelIn<I>
  : V extends { readonly "~ref"?: infer T } ? T extends FrameworkModel ? T : unknown
  : V extends FrameworkModel ? V
  : unknown;

/**
 * Declares the route of a model and its operations. A class can have several routes.
 *
 * On a property that holds references or embedded entities, `@rest` declares a sub-route, such as `/movies/:id/actors`.
 *
 * @throws {TypeError} If the compiler does not support standard decorator metadata.
 */
export function rest<
  const O extends Method,
  const L extends readonly unknown[],
  R extends string | undefined = undefined,
  D = RestDecorators<O, R>,
  const S extends Scoped = Scoped,
>(this: RestProblem<D, R, L>, options: RestInput<D, O, L, R, S>): D {
  const record = { ...options } as RestRecord;
  const decorate = (_target: unknown, context: RestContext): void => {
    const records = recordsOf("rest", context);
    if (context.kind === "class") {
      records.rests.unshift(record);
      context.addInitializer(function () {
        registerModel(this);
      });
    } else {
      const name = String(context.name);
      records.parts.set(name, [record, ...records.parts.get(name) ?? []]);
    }
  };
  return decorate as D;
}

/**
 * @internal The type of a decorator in a variable. Without the option `route`, it can only be applied to a property.
 */
export type RestDecorators<O extends Method, R> = R extends string
  ? RestDecorator<O> & PartRestDecorator<O>
  : PartRestDecorator<O>;

type RestContext =
  | ClassDecoratorContext<abstract new () => FrameworkModel>
  | ClassFieldDecoratorContext;

/** Nothing uses `Rule`, but TypeScript prints its text if the hooks of an operation expect another model. */
interface MethodOf<Rule extends string, M extends FrameworkModel> {
  readonly operation: string;
  readonly hooks: HooksOf<M> | LeanHooksOf<M>;
  readonly run?: (
    req: FrameworkRequest<M>,
    subject: Entity<M> & ModelQuery<M>,
    body: never,
  ) => unknown;
  readonly "~postFetch"?: (req: FrameworkRequest<M>, entity: Entity<M>) => unknown;
  "~model"?(model: M): void;
}

/** @internal */
export type Operations<L, M> = {
  readonly [I in keyof L]: M extends FrameworkModel
    ? MethodOf<"a called operation, such as all(), with hooks and fields of this model", M>
    : Method;
};

/**
 * @internal The result of `scope` if TypeScript infers no narrower type. The names in such a filter are not checked.
 */
export type Scoped = Returns<"scope returns a filter", QueryObject>;

/** @internal */
export type ModelOr<M> = M extends FrameworkModel ? M : FrameworkModel;

/** @internal */
export interface RestOfProperty<M, L, R, S> extends Pick<RestOptions, "ifMatch" | "open"> {
  /** Returns a filter that every read and write of this route must match. */
  readonly scope?: (
    req: FrameworkRequest<ModelOr<M>>,
  ) => [Scoped] extends [S] ? Returns<"scope returns a filter", QueryObject>
    : NamedFilter<M, S>;
  readonly route?: R;
  readonly methods: Operations<L, M>;
}

/** @internal Nothing uses `Problem`, but TypeScript prints its text if the route is missing. */
export interface RestOfClass<M, L, R, S, Problem>
  extends
    RestOfProperty<M, L, R, S>,
    Pick<RestOptions, "schemaOptions" | "getConnection" | "main">,
    LifecycleOptions<ModelOr<M>> {
  /** The name of the field with the tenant of an entity, or `false` if the entities belong to no tenant. */
  readonly tenant?: TenantField<M> | false;
  readonly route: R & string;
}

/** @internal */
export type TenantField<M> = M extends FrameworkModel ? keyof M & string : string;

type RouteProblem<R> = R extends string ? never
  : '@rest of a class needs a route, such as "/movies"';

/** @internal */
export type RestInput<D, O extends Method, L, R, S> = Decorated<D> extends
  { readonly model: infer M } ? RestOfClass<M, L, R, S, RouteProblem<R>>
  : Decorated<D> extends { readonly value: infer V }
    ? RestOfProperty<ModelIn<NonNullable<V>>, L, R, S>
  : Omit<RestOptions<O>, "route"> & { readonly route?: R };

/** @internal */
export type RestProblem<D, R, L> = IsLegacy<D> extends true
  ? '@rest needs standard decorators: remove "experimentalDecorators"'
  : L extends readonly [] ? "methods is empty: list operations, such as all()"
  : Decorated<D> extends { readonly model: infer M }
    ? M extends FrameworkModel ? unknown : "@rest belongs to a class that extends FrameworkModel"
  : unknown;

/** Whether `D` is used as a legacy decorator, which gets no decorator context. */
type IsLegacy<D> = D extends (...args: infer A) => unknown
  ? A extends readonly [unknown] | readonly [unknown, string | symbol, ...unknown[]] ? true : false
  : false;
