import type { StandardSchema } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ActionRecord, TypeIn } from "../../declare/operations/action.ts";
import type { Input, NewOf } from "./body.ts";
import type { Json, JsonValue } from "./json.ts";
import type { MatchOptions, RemoveOptions } from "./options.ts";

/**
 * Options of actions.
 *
 * @typeParam M The model.
 */
export interface ActionOptions<M> extends RemoveOptions<M> {
  /**
   * The HTTP method of the action: `"GET"` where it is declared so.
   *
   * @default {"POST"}
   */
  readonly method?: "GET" | "POST" | undefined;
}

/**
 * The answer of an action: the JSON of its `answer`, else that of the entity; `undefined` where `run` returns nothing. An
 * action whose type is not known answers `unknown`.
 *
 * @typeParam M The model.
 * @typeParam A The action: `typeof close`.
 */
export type ActionAnswer<M, A extends AnyAction> = AnswerOf<M, A["answer"], ResultIn<A>>;

/** @internal What a client needs of an action. */
export interface AnyAction extends ActionRecord {
  /** The name. */
  readonly operation: string;
}

/** @internal The name of an action, if it can be one on an entity. */
export type EntityActionName<A extends AnyAction> = "one" extends A["on"] ? A["operation"] : never;

/** @internal The arguments behind the name, for a list. */
export type ActionArgs<M, A extends AnyAction> = A["on"] extends infer On
  ? On extends "one" ? [id: string, ...rest: EntityActionArgs<M, A>]
  : RestArgs<A, Omit<ActionOptions<M>, keyof ActionMatch>>
  : never;

/** @internal The arguments behind the name and the identifier. */
export type EntityActionArgs<M, A extends AnyAction> = RestArgs<A, ActionOptions<M>>;

/** @internal The options that only an action on an entity has. */
export type ActionMatch = Pick<MatchOptions, "ifMatch">;

/** @internal The body, and the options. */
export type RestArgs<A extends AnyAction, O> = "GET" | "POST" extends A["method"]
  ? [body?: ActionBody<A["body"]>, options?: O]
  : A["method"] extends "GET" ? [body: undefined, options: O & { readonly method: "GET" }]
  : undefined extends A["body"]
    ? [body?: ActionBody<A["body"]>, options?: O & { readonly method?: "POST" | undefined }]
  : [body: ActionBody<A["body"]>, options?: O & { readonly method?: "POST" | undefined }];

/** @internal The body of an action. */
export type ActionBody<B> = B extends abstract new () => FrameworkModel
  ? FrameworkModel extends InstanceType<B> ? object : NewOf<InstanceType<B>>
  : B extends StandardSchema ? unknown extends TypeIn<B, "input"> ? object
    : Input<TypeIn<B, "input">>
  : undefined;

/** @internal What `run` returns, in the end. */
export type ResultIn<A extends AnyAction> = A extends {
  readonly run: (...args: never) => infer R;
} ? Awaited<R>
  : never;

/** @internal What an action with an option `answer` answers whose `run` gives a result. */
export type AnswerOf<M, D, R> = [D] extends [undefined]
  ? EntityIn<M, Exclude<R, Nothing>> | NothingIn<R>
  : undefined extends D ? unknown
  : DataIn<D, Exclude<R, Nothing>> | NothingIn<R>;

/** @internal What becomes an answer without a body. */
export type Nothing = null | undefined | void;

/** @internal The answer without a body, if there can be one. */
export type NothingIn<R> = [Extract<R, Nothing>] extends [never] ? never : undefined;

/** @internal The JSON of the entity, if there can be one. */
export type EntityIn<M, R> = [R] extends [never] ? never : Json<M>;

/** @internal The JSON of what a class or a schema describes. An object that is no entity has no identifier. */
export type DataIn<D, R> = D extends abstract new () => infer T
  ? [R] extends [{ readonly _id: unknown; readonly __v: unknown }] ? Json<T>
  : Omit<Json<T>, "_id" | "__v">
  : D extends StandardSchema ? JsonValue<TypeIn<D, "output">>
  : unknown;
