import type { StandardSchema } from "../decorators/field_options.ts";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { FetchHooks, MaybePromise, OperationOptions } from "../hooks/hooks.ts";
import type { Entity, FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";
import type { Given, HooksFor, NoOptions, UnnamedModel } from "./hooks_input.ts";
import type { Method } from "./methods.ts";
import { ACTIONS, type Operation, type OperationName, OPERATIONS } from "./operation.ts";

/** @internal */
export type ActionTarget = "one" | "all";

/** @internal */
export type DataType = ModelClass | StandardSchema;

/**
 * The entities that a request selects, as a Mongoose model and a filter, for `run` of an action on all entities, and as
 * the result of `Framework.queryFor()`.
 */
export interface ModelQuery<M extends FrameworkModel> {
  /**
   * The conditions of `q`, checked and cast, and the scope. Every method of the model takes it. To add conditions, use
   * `{ $and: [filter, …] }`. A deep copy, such as by `structuredClone()`, lacks the conditions and would select all
   * entities, so MongoDB refuses it.
   */
  readonly filter: QueryObject;
  /** The Mongoose model on the connection of the request. */
  readonly model: ModelOf<ModelClass<M>>;
}

/** An action without the types of its model, body and answer. */
export interface ActionRecord {
  readonly on: ActionTarget;
  readonly method: "GET" | "POST";
  readonly body?: DataType | undefined;
  readonly answer?: DataType | undefined;
  readonly saves?: boolean | undefined;
  readonly available?: ((req: never, entity: never) => unknown) | undefined;
  readonly run: (req: never, subject: never, body: never) => unknown;
}

/** An action with its hooks, as an element of the option `methods` of `@rest`. */
export interface Action<
  T extends ActionTypes = ActionTypes,
  M extends FrameworkModel = UnnamedModel,
> extends Method<NoOptions, M> {
  /** The name of the action, which is the last segment of its path. */
  readonly operation: T["name"];
  /** The subject of the action, which is one entity or all entities that a request selects. */
  readonly on: T["on"];
  /** The HTTP method of the route. */
  readonly method: T["method"];
  /** The class or schema that validates the body before `run` gets it. */
  readonly body: T["body"];
  /** The class or schema that validates the result of `run`. */
  readonly answer: T["answer"];
  /** Whether unsaved changes of a returned entity are an error. */
  readonly saves?: boolean | undefined;
  /** Does the work, and returns the result for the answer. */
  readonly run: (req: T["req"], subject: T["subject"], body: never) => T["result"];
  /**
   * Exists in types only, so that TypeScript refuses the action on a class whose entities `postFetch` does not accept.
   */
  readonly "~postFetch"?: (req: T["req"], entity: T["entity"]) => unknown;
}

/** @internal The types of an action in one object, so that `Action` needs one type parameter. */
export interface ActionTypes {
  readonly name: string;
  readonly on: ActionTarget;
  readonly method: "GET" | "POST";
  readonly body: DataType | undefined;
  readonly answer: DataType | undefined;
  readonly req: unknown;
  readonly subject: unknown;
  readonly entity: unknown;
  readonly result: unknown;
}

/** @internal */
export interface SharedActionOptions<On, V, B, A> extends OperationOptions {
  /** Whether the action works on one entity or on all entities that a request selects. */
  readonly on: On;
  /** The HTTP method. The default is `"POST"`. Use `"GET"` for an action that changes nothing. */
  readonly method?: V | undefined;
  /** The type of the body, which validates it. An action without `body` does not read the body. */
  readonly body?: B | undefined;
  /** The type of the answer, which validates the result of `run`. Without it, `run` returns the entity or nothing. */
  readonly answer?: A | undefined;
  /**
   * Whether the action answers 500 if `run` returns an entity with unsaved changes. The log names the changed paths.
   * Set `false` for a preview, or if `run` writes the changes without `save()`.
   *
   * @default {true}
   */
  readonly saves?: boolean | undefined;
}

/** @internal */
export interface InferredActionOptions<On, V, B, A, Q, S, P, R>
  extends SharedActionOptions<On, V, B, A>, FetchHooks<P, Q> {
  /**
   * Whether the action on one entity can run now. With `false`, the action answers 409, and `one()` does not name it in
   * its header `Link`. The function must be synchronous.
   */
  readonly available?: On extends "all" ? never : (req: Q, entity: P) => boolean;
  readonly run: (req: Q, subject: S, body: BodyOf<B>) => R;
}

/**
 * @internal The options of an action whose call names the model. TypeScript infers nothing from `body` in such a call,
 * so the parameter `body` of `run` needs an annotation.
 */
export type NamedActionOptions<M> = M extends FrameworkModel
  ? NamedAction<"one", M> | NamedAction<"all", M>
  : never;

/** @internal */
export type NamedAction<On extends ActionTarget, M extends FrameworkModel> =
  & SharedActionOptions<On, "GET" | "POST", DataType, DataType>
  & Pick<
    HooksFor<"remove", M, NoOptions>,
    On extends "one" ? "preFetch" | "fetch" | "postFetch" : "preFetch"
  >
  & {
    /**
     * Whether the action on one entity can run now. With `false`, the action answers 409. The function must be
     * synchronous.
     */
    readonly available?: On extends "all" ? never
      : (req: FrameworkRequest<M>, entity: Entity<M>) => boolean;
    readonly run: (
      req: FrameworkRequest<M>,
      subject: SubjectOf<On, M>,
      body: never,
    ) => MaybePromise<object | null | undefined | void>;
  };

/** @internal */
export type SubjectOf<On, M extends FrameworkModel> = On extends "all" ? ModelQuery<M> : Entity<M>;

/** @internal */
export type BodyOf<B> = B extends abstract new () => infer T ? T
  : B extends StandardSchema ? TypeIn<B, "output">
  : undefined;

/** @internal */
export type ResultOf<A, On, S> = A extends abstract new () => infer T ? T | FieldsIn<T>
  : A extends StandardSchema ? TypeIn<A, "input">
  : On extends "one" ? S
  : object;

/** @internal */
export type TypeIn<S extends StandardSchema, K extends "input" | "output"> =
  NonNullable<S["~standard"]["types"]> extends { readonly [N in K]: infer T } ? T : unknown;

/** @internal An object with the fields of the class `T`, which `run` can return in place of an instance. */
export type FieldsIn<T> = {
  [
    K in keyof T as K extends keyof FrameworkModel ? never
      : T[K] extends (...args: never) => unknown ? never
      : K
  ]: object extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * Declares an action. The route is `POST {route}/:id/{name}` for an action on one entity, and `POST {route}/{name}` for
 * an action on all entities.
 *
 * An action on one entity gets the document that `update()` would change. Its `save()` fails if the entity has left the
 * scope or has another version than the document. An action on all entities gets a {@linkcode ModelQuery}. TypeScript
 * infers the types of `run` from `body` and the annotations of its parameters, or from the model in
 * `action<Ticket>(…)`.
 *
 * @example Close a ticket
 * ```ts
 * import { action, type Entity, FrameworkModel, one, prop, rest, RestError } from "@mongrove/mongrove";
 *
 * class CloseBody extends FrameworkModel {
 *   @prop({ required: true })
 *   reason!: string;
 * }
 *
 * const close = action("close", {
 *   on: "one",
 *   body: CloseBody,
 *   run: async (_req, ticket: Entity<Ticket>, body) => {
 *     if (ticket.state === "closed") throw new RestError(409, "It is closed");
 *     ticket.state = "closed";
 *     ticket.reason = body.reason;
 *     return await ticket.save();
 *   },
 * });
 *
 * @rest({ route: "/tickets", methods: [one(), close] })
 * class Ticket extends FrameworkModel {
 *   @prop({ default: "open" })
 *   state!: string;
 *   @prop()
 *   reason?: string;
 * }
 * ```
 */
export function action<
  M extends FrameworkModel = UnnamedModel<"name the model, as in action<Ticket>(…)">,
  const N extends string = string,
  const On extends ActionTarget = never,
  const V extends "GET" | "POST" = "POST",
  B extends DataType | undefined = undefined,
  A extends DataType | undefined = undefined,
  Q = FrameworkRequest<M>,
  S = SubjectOf<On, M>,
  P = Entity<M>,
  R extends MaybePromise<ResultOf<A, On, S> | null | undefined | void> = MaybePromise<
    ResultOf<A, On, S> | null | undefined | void
  >,
>(
  name: N,
  options: [On] extends [never] ? NamedActionOptions<Given<M>>
    : InferredActionOptions<On, V, B, A, Q, S, P, R>,
): Action<
  [On] extends [never] ? {
      readonly name: N;
      readonly on: "one" | "all";
      readonly method: "GET" | "POST";
      readonly body: ModelClass | StandardSchema | undefined;
      readonly answer: ModelClass | StandardSchema | undefined;
      readonly req: unknown;
      readonly subject: unknown;
      readonly entity: unknown;
      readonly result: unknown;
    }
    : {
      readonly name: N;
      readonly on: On;
      readonly method: V;
      readonly body: B;
      readonly answer: A;
      readonly req: Q;
      // Without an annotation in `run`, `S` is its default, `SubjectOf<On, M>`. With `unknown` instead, `@rest` accepts
      // the action on any class.
      readonly subject: [SubjectOf<On, M>] extends [S] ? unknown : S;
      readonly entity: P;
      readonly result: R;
    },
  M
> {
  const { on, method = "POST", body, answer, saves, available, run, ...hooks } = Object(options);
  return { operation: name, on, method, body, answer, saves, available, run, hooks } as never;
}

export function isAction(method: Method): method is Method & ActionRecord {
  return "run" in method;
}

export function operationOf(method: Method): Operation {
  return isAction(method)
    ? { ...ACTIONS[method.on], verb: method.method === "GET" ? "get" : "post" }
    : OPERATIONS[method.operation as OperationName];
}
