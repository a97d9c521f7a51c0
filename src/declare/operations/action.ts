import type { StandardSchema } from "../decorators/field_options.ts";
import type { FrameworkRequest, QueryObject } from "../hooks/framework_request.ts";
import type { MaybePromise, OperationOptions } from "../hooks/hooks.ts";
import type { Entity, FrameworkModel, ModelClass, ModelOf } from "../model/framework_model.ts";
import type { Given, HooksFor, NoOptions, UnnamedModel } from "./hooks_input.ts";
import type { Method } from "./methods.ts";
import { ACTIONS, type Operation, type OperationName, OPERATIONS } from "./operation.ts";

/** The subject of an action: one entity, or all that a request selects. */
export type ActionTarget = "one" | "all";

/** The description of a body or an answer of an action: a model class, or a schema of a validation library. */
export type DataType = ModelClass | StandardSchema;

/** The selection of a request, for `Framework.queryFor()` and for actions on all entities. */
export interface ModelQuery<M extends FrameworkModel> {
  /**
   * The conditions of `q`, checked and cast, and the scope. Every method of the model selects the same with it. Join it with
   * other conditions by `$and`; the database refuses copies of it.
   */
  readonly filter: QueryObject;
  /** The Mongoose model on the connection of the request. */
  readonly model: ModelOf<ModelClass<M>>;
}

/** An action without types, as it was declared. */
export interface ActionRecord {
  readonly on: ActionTarget;
  readonly method: "GET" | "POST";
  readonly body?: DataType | undefined;
  readonly answer?: DataType | undefined;
  /** Whether it is an error to answer the entity with changes that were not saved. */
  readonly saves?: boolean | undefined;
  readonly run: (req: never, subject: never, body: never) => unknown;
}

/** An action with its hooks: an element of the option `methods` of `@rest`. */
export interface Action<
  T extends ActionTypes = ActionTypes,
  M extends FrameworkModel = UnnamedModel,
> extends Method<NoOptions, M> {
  /** The name of the action. */
  readonly operation: T["name"];
  /** Its subject. */
  readonly on: T["on"];
  /** The HTTP method. */
  readonly method: T["method"];
  /** The description of its body. */
  readonly body: T["body"];
  /** The description of its answer. */
  readonly answer: T["answer"];
  /** Whether it saves what it changes. */
  readonly saves?: boolean | undefined;
  /** The function that runs. */
  readonly run: (req: T["req"], subject: T["subject"], body: never) => T["result"];
  /** Never set. It lets TypeScript check the hook `postFetch`. */
  readonly "~postFetch"?: (req: T["req"], entity: T["entity"]) => unknown;
}

/** @internal The types of an action. */
export interface ActionTypes {
  readonly name: string;
  readonly on: ActionTarget;
  readonly method: "GET" | "POST";
  readonly body: DataType | undefined;
  readonly answer: DataType | undefined;
  readonly req: unknown;
  /** The entity or the query that `run` gets. */
  readonly subject: unknown;
  /** The entity that `postFetch` gets. */
  readonly entity: unknown;
  readonly result: unknown;
}

/** @internal The options that every action has. */
export interface SharedActionOptions<On, V, B, A> extends OperationOptions {
  /** Whether it works on one entity, at `{route}/:id/{name}`, or on all that a request selects, at `{route}/{name}`. */
  readonly on: On;
  /** The HTTP method: `"GET"` where nothing changes, else `"POST"`, which is the default. */
  readonly method?: V | undefined;
  /** The description of the body. Without it, no body is read. */
  readonly body?: B | undefined;
  /** The description of the answer. Without it, `run` returns the entity, or nothing. */
  readonly answer?: A | undefined;
  /**
   * Whether `run` saves the changes of an entity that it returns. If it returns an entity with changes that were not
   * saved, the answer is a 500, and the log names the changed paths. `false` allows such an answer: for a preview, or if
   * `run` writes the changes in another way than by `save()`.
   *
   * @default {true}
   */
  readonly saves?: boolean | undefined;
}

/** @internal The options of an action whose types TypeScript infers. */
export interface InferredActionOptions<On, V, B, A, Q, S, P, R>
  extends SharedActionOptions<On, V, B, A> {
  /** Runs before any database call. Any result except `true` answers 403. */
  readonly preFetch?: (req: Q) => MaybePromise<boolean>;
  /** Replaces the default read. */
  readonly fetch?: (req: Q) => unknown;
  /** Runs once for the entity. `null` answers 404. */
  readonly postFetch?: (req: Q, entity: P) => MaybePromise<object | null>;
  /** The function that runs. */
  readonly run: (req: Q, subject: S, body: BodyOf<B>) => R;
}

/** @internal The options of an action whose model is named. A body has to be annotated. */
export type NamedActionOptions<M> = M extends FrameworkModel
  ? NamedAction<"one", M> | NamedAction<"all", M>
  : never;

/** @internal The same for what it works on. */
export type NamedAction<On extends ActionTarget, M extends FrameworkModel> =
  & SharedActionOptions<On, "GET" | "POST", DataType, DataType>
  & Pick<
    HooksFor<"remove", M, NoOptions>,
    On extends "one" ? "preFetch" | "fetch" | "postFetch" : "preFetch"
  >
  & {
    /** The function that runs. */
    readonly run: (
      req: FrameworkRequest<M>,
      subject: SubjectOf<On, M>,
      body: never,
    ) => MaybePromise<object | null | undefined | void>;
  };

/** @internal What `run` gets. */
export type SubjectOf<On, M extends FrameworkModel> = On extends "all" ? ModelQuery<M> : Entity<M>;

/** @internal The body that `run` gets. */
export type BodyOf<B> = B extends abstract new () => infer T ? T
  : B extends StandardSchema ? TypeIn<B, "output">
  : undefined;

/** @internal What `run` returns, besides nothing. */
export type ResultOf<A, On, S> = A extends abstract new () => infer T ? T | FieldsIn<T>
  : A extends StandardSchema ? TypeIn<A, "input">
  : On extends "one" ? S
  : object;

/** @internal The values that a Standard Schema takes or gives. */
export type TypeIn<S extends StandardSchema, K extends "input" | "output"> =
  NonNullable<S["~standard"]["types"]> extends { readonly [N in K]: infer T } ? T : unknown;

/** @internal The fields of a class, for an object that is no instance of it. */
export type FieldsIn<T> = {
  [
    K in keyof T as K extends keyof FrameworkModel ? never
      : T[K] extends (...args: never) => unknown ? never
      : K
  ]: object extends Pick<T, K> ? T[K] | undefined : T[K];
};

/**
 * `POST {route}/:id/{name}` or `POST {route}/{name}`: does what no other operation does, such as to close a ticket.
 *
 * An action on one entity gets it as `update()` does; its `save()` is bound to the scope and to the version that was read.
 * An action on all entities gets the model, and a filter of what the request selects. `run` is typed by its body and by
 * the annotations of its parameters, or by `action<Ticket>(…)`.
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
  [On] extends [never] ? ActionTypes & { readonly name: N }
    : {
      readonly name: N;
      readonly on: On;
      readonly method: V;
      readonly body: B;
      readonly answer: A;
      readonly req: Q;
      // Parameters without annotations fit any model.
      readonly subject: [SubjectOf<On, M>] extends [S] ? unknown : S;
      readonly entity: P;
      readonly result: R;
    },
  M
> {
  const { on, method = "POST", body, answer, saves, run, ...hooks } = Object(options);
  return { operation: name, on, method, body, answer, saves, run, hooks } as never;
}

export function isAction(method: Method): method is Method & ActionRecord {
  return "run" in method;
}

/** Gives the row of an element of `methods`, in words of data. */
export function operationOf(method: Method): Operation {
  return isAction(method)
    ? { ...ACTIONS[method.on], verb: method.method === "GET" ? "get" : "post" }
    : OPERATIONS[method.operation as OperationName];
}
