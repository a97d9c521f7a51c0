import type { Connection, SchemaOptions } from "mongoose";
import { registerModel } from "../model/registry.ts";
import type { RestRecord } from "../model/records.ts";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { HooksOf, LeanHooksOf, MaybePromise } from "../hooks/hooks.ts";
import type { FrameworkModel } from "../model/framework_model.ts";
import type { Method } from "../operations/methods.ts";
import type { RestInput, RestProblem } from "./rest_input.ts";
import { recordsOf } from "./_record.ts";

/**
 * The options of {@linkcode rest}.
 *
 * @typeParam O The operations.
 *
 * @example Each user sees and changes their own
 * ```ts
 * import { all, create, FrameworkModel, prop, rest, RestError, update } from "@mongrove/mongrove";
 *
 * @rest({
 *   route: "/notes",
 *   methods: [all(), create(), update()],
 *   schemaOptions: { timestamps: true },
 *   scope: (req) => {
 *     const owner = req.headers["x-user"];
 *     if (owner === undefined) throw new RestError(401, "Who are you?");
 *     return { owner };
 *   },
 * })
 * class Note extends FrameworkModel {
 *   @prop({ required: true })
 *   owner!: string;
 * }
 * ```
 */
export interface RestOptions<O extends Method = Method> {
  /** The path under which the model is served, such as `/movies`. */
  readonly route: string;
  /** The operations to create. */
  readonly methods: readonly O[];
  /** Mongoose's schema options, such as `{ timestamps: true }`. */
  readonly schemaOptions?: SchemaOptions;
  /** Supplies the connection of a request; called once, after `preFetch`. Connections are kept by the application. */
  readonly getConnection?: (req: FrameworkRequest) => MaybePromise<Connection>;
  /** A trusted filter that binds every read and every write of this route. */
  readonly scope?: (req: FrameworkRequest) => MaybePromise<QueryObject>;
}

/**
 * The model itself where its operations' hooks fit it, and what is wrong where they do not.
 *
 * @typeParam M The model.
 * @typeParam O The operations.
 */
export type Accepts<M, O extends Method> = M extends FrameworkModel
  ? O["hooks"] extends HooksOf<M> | LeanHooksOf<M> ? M
  : { "a hook expects another model": O["hooks"] }
  : never;

/**
 * The options of {@linkcode rest} on a property.
 *
 * @typeParam O The operations.
 */
export interface PartRestOptions<O extends Method = Method>
  extends Omit<RestOptions<O>, "route" | "schemaOptions" | "getConnection"> {
  /** The path below the parent. @default {the property's name} */
  readonly route?: string;
}

/**
 * The decorator of a class: it refuses one that the hooks do not fit.
 *
 * @typeParam O The operations.
 */
export type RestDecorator<O extends Method> = <M extends FrameworkModel>(
  target: abstract new () => M & Accepts<M, O>,
  context: ClassDecoratorContext<abstract new () => M>,
) => void;

/**
 * The decorator of a property: it refuses one whose model the hooks do not fit.
 *
 * @typeParam O The operations.
 */
export type PartRestDecorator<O extends Method> = <This extends FrameworkModel, V>(
  value: undefined,
  context: ClassFieldDecoratorContext<This, V> & AcceptsPart<V, O>,
) => void;

/**
 * Anything, where the operations' hooks fit what a property holds, and what is wrong where they do not. Plain identifiers
 * do not tell their model; `Ref` and embedded models do.
 *
 * @typeParam V The property's value.
 * @typeParam O The operations.
 */
export type AcceptsPart<V, O extends Method> = ModelIn<NonNullable<V>> extends infer M
  ? M extends FrameworkModel ? Accepts<M, O> extends M ? unknown : Accepts<M, O> : unknown
  : never;

/**
 * The model that a value holds: itself, an element, or what a `Ref` refers to; `unknown` where it does not tell.
 *
 * @typeParam V The value.
 */
export type ModelIn<V> = V extends readonly (infer I)[] ? ModelIn<I>
  : V extends { readonly "~ref"?: infer T } ? T extends FrameworkModel ? T : unknown
  : V extends FrameworkModel ? V
  : unknown;

/**
 * Declares the route of a model and the operations to expose. A class may carry it more than once.
 *
 * @typeParam O The operations, where the compiler does not tell what is decorated.
 * @typeParam L The operations, where it does.
 * @typeParam R The route.
 * @typeParam D The decorator, as what is decorated wants it.
 * @param options The route, the operations, and what binds them.
 * @returns The decorator: it records, and registers the class.
 * @throws {TypeError} If the compiler gives no standard decorator metadata.
 *
 * @example A model with two operations
 * ```ts
 * import { all, create, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({ route: "/todos", methods: [all(), create()] })
 * class Todo extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 * }
 * ```
 */
export function rest<
  const O extends Method,
  const L extends readonly unknown[],
  R extends string | undefined = undefined,
  D = RestDecorators<O, R>,
>(this: RestProblem<D, R, L>, options: RestInput<D, O, L, R>): D {
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
 * The decorator where the compiler does not tell what is decorated: without a route it is no class.
 *
 * @typeParam O The operations.
 * @typeParam R The route.
 * @internal
 */
export type RestDecorators<O extends Method, R> = R extends string
  ? RestDecorator<O> & PartRestDecorator<O>
  : PartRestDecorator<O>;

/** Where `@rest` may stand. */
type RestContext =
  | ClassDecoratorContext<abstract new () => FrameworkModel>
  | ClassFieldDecoratorContext;
