import type { Connection, SchemaOptions } from "mongoose";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { HooksOf, LeanHooksOf, MaybePromise } from "../hooks/hooks.ts";
import type { NamedFilter } from "../model/field_names.ts";
import type { Entity, FrameworkModel } from "../model/framework_model.ts";
import { recordsOf, registerModel, type RestRecord } from "../model/records.ts";
import type { ModelQuery } from "../operations/action.ts";
import type { Returns } from "../operations/hooks_input.ts";
import type { Decorated } from "./prop_input.ts";
import type { Method } from "../operations/methods.ts";

/**
 * Options of {@linkcode rest}.
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
> {
  /** The path of the model, such as `/movies`. */
  readonly route: string;
  /** The operations that clients can call. */
  readonly methods: readonly O[];
  /** Schema options of Mongoose, such as `{ timestamps: true }`. */
  readonly schemaOptions?: SchemaOptions;
  /** Returns the connection of a request, once, after the `preFetch` hooks. The application opens and closes it. */
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
  /**
   * Returns a filter that every read and every write of this route must match. It may use hidden fields. It does not apply
   * to what your own `fetch` and `persist` hooks read and write.
   */
  readonly scope?: (req: FrameworkRequest<M>) => Returns<"scope returns a filter", QueryObject>;
  /**
   * With `"required"`, `update()` and `remove()` answer 428 to requests without the header `If-Match`. Its value is the
   * `ETag` of the entity as the client has read it. If the entity has changed since, the answer is 412.
   */
  readonly concurrency?: "required" | undefined;
  /**
   * Whether this `@rest` binds what refers to the class: its `scope` selects the entities that references can name and
   * show, and the hooks of its `one()` guard them. A class with several `@rest`, some of them with a scope, needs it.
   */
  readonly main?: boolean | undefined;
}

/** @internal The model, if the hooks and options of the operations accept it, else a type that tells the problem. */
export type Accepts<M, O extends Method> = M extends FrameworkModel
  ? O["hooks"] extends HooksOf<M> | LeanHooksOf<M> ? M
  : { "a hook or the name of a field expects another model": O["hooks"] }
  : never;

/** Options of {@linkcode rest} on a property. */
export interface PartRestOptions<O extends Method = Method>
  extends Omit<RestOptions<O>, "route" | "schemaOptions" | "getConnection" | "main"> {
  /** The path below the path of the parent entity. The default is `/` and the name of the property. */
  readonly route?: string;
}

/** The decorator of a class. It does not accept a class that the hooks do not accept. */
export type RestDecorator<O extends Method> = <M extends FrameworkModel>(
  target: abstract new () => M & Accepts<M, O>,
  context: ClassDecoratorContext<abstract new () => M>,
) => void;

/** The decorator of a property. It does not accept a property whose model the hooks do not accept. */
export type PartRestDecorator<O extends Method> = <This extends FrameworkModel, V>(
  value: undefined,
  context: ClassFieldDecoratorContext<This, V> & AcceptsPart<V, O>,
) => void;

/** @internal `unknown`, if the hooks accept the model of a `Ref` or an embedded model, else a type that tells the problem. */
export type AcceptsPart<V, O extends Method> = ModelIn<NonNullable<V>> extends infer M
  ? M extends FrameworkModel ? Accepts<M, O> extends M ? unknown : Accepts<M, O> : unknown
  : never;

/** @internal The model of a value, of the elements of an array, or of what a `Ref` refers to, else `unknown`. */
export type ModelIn<V> = V extends readonly (infer I)[] ? ModelIn<I>
  : V extends { readonly "~ref"?: infer T } ? T extends FrameworkModel ? T : unknown
  : V extends FrameworkModel ? V
  : unknown;

/**
 * Declares the route of a model and its operations. A class can have several routes.
 *
 * On a property that holds references or embedded entities, it declares a sub-route, such as `/movies/:id/actors`.
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

/** @internal The decorator, if TypeScript does not infer what is decorated. Without a route it must be a property. */
export type RestDecorators<O extends Method, R> = R extends string
  ? RestDecorator<O> & PartRestDecorator<O>
  : PartRestDecorator<O>;

/** The context of what `@rest` can decorate. */
type RestContext =
  | ClassDecoratorContext<abstract new () => FrameworkModel>
  | ClassFieldDecoratorContext;

/** An operation whose hooks accept a model. Otherwise TypeScript prints the rule. */
interface MethodOf<Rule extends string, M extends FrameworkModel> {
  readonly operation: string;
  readonly hooks: HooksOf<M> | LeanHooksOf<M>;
  readonly run?: (
    req: FrameworkRequest<M>,
    subject: Entity<M> & ModelQuery<M>,
    body: never,
  ) => unknown;
  readonly "~postFetch"?: (req: FrameworkRequest<M>, entity: Entity<M>) => unknown;
  /** Never set. It lets TypeScript check the hooks against the model. */
  "~model"?(model: M): void;
}

/** The operations `L` on a model. Any operations are accepted if the model is not known. */
type Operations<L, M> = {
  readonly [I in keyof L]: M extends FrameworkModel
    ? MethodOf<"a called operation, such as all(), with hooks and fields of this model", M>
    : Method;
};

/** @internal What a scope gives. */
export type Scoped = Returns<"scope returns a filter", QueryObject>;

/** @internal The options of `@rest` on a property. The scope gives `S`. */
export interface RestOfProperty<M, L, R, S> extends Pick<RestOptions, "concurrency"> {
  /** Returns a filter that every read and every write of this route must match. */
  readonly scope?: (
    req: FrameworkRequest<M extends FrameworkModel ? M : FrameworkModel>,
  ) => [Scoped] extends [S] ? Returns<"scope returns a filter", QueryObject>
    : NamedFilter<M, S>;
  /** The path. */
  readonly route?: R;
  /** The operations that clients can call. */
  readonly methods: Operations<L, M>;
}

/** @internal The options of `@rest` on a class. TypeScript prints `Problem` where the route is missing. */
export interface RestOfClass<M, L, R, S, Problem>
  extends
    RestOfProperty<M, L, R, S>,
    Pick<RestOptions, "schemaOptions" | "getConnection" | "main"> {
  /** The path. */
  readonly route: R & string;
}

type RouteProblem<R> = R extends string ? never
  : '@rest of a class needs a route, such as "/movies"';

/** @internal The options of `@rest` on what is decorated. */
export type RestInput<D, O extends Method, L, R, S> = Decorated<D> extends
  { readonly model: infer M } ? RestOfClass<M, L, R, S, RouteProblem<R>>
  : Decorated<D> extends { readonly value: infer V }
    ? RestOfProperty<ModelIn<NonNullable<V>>, L, R, S>
  : Omit<RestOptions<O>, "route"> & { readonly route?: R };

/** @internal The problem of an `@rest` that no single option has. */
export type RestProblem<D, R, L> = IsLegacy<D> extends true
  ? '@rest needs standard decorators: remove "experimentalDecorators"'
  : L extends readonly [] ? "methods is empty: list operations, such as all()"
  : Decorated<D> extends { readonly model: infer M }
    ? M extends FrameworkModel ? unknown : "@rest belongs to a class that extends FrameworkModel"
  : unknown;

/** Whether the compiler is set to legacy decorators, which get no context. */
type IsLegacy<D> = D extends (...args: infer A) => unknown
  ? A extends readonly [unknown] | readonly [unknown, string | symbol, ...unknown[]] ? true : false
  : false;
