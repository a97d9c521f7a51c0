import type { StandardSchema } from "../../declare/decorators/field_options.ts";
import type { FrameworkModel } from "../../declare/model/framework_model.ts";
import type { ActionRecord, TypeIn } from "../../declare/operations/action.ts";
import type { Input, NewOf } from "./body.ts";
import type { Json, JsonValue } from "./json.ts";
import type { MatchOptions, RemoveOptions } from "./options.ts";

/** @internal */
export interface ActionOptions<M> extends RemoveOptions<M> {
  /**
   * The HTTP method that the server declares for the action.
   *
   * @default {"POST"}
   */
  readonly method?: "GET" | "POST" | undefined;
}

/**
 * The result of `action()`, which is the JSON of the type in the option `answer` of the action, or else of the entity.
 * The result is `undefined` if `run` returns nothing, and `unknown` without the type of the action.
 *
 * @typeParam A The action: `typeof close`.
 */
export type ActionAnswer<M, A extends AnyAction> = AnswerOf<M, A["answer"], ResultIn<A>>;

/** @internal */
export interface AnyAction extends ActionRecord {
  /** The name of the action, which is the last segment of its path. */
  readonly operation: string;
}

/** @internal */
export type EntityActionName<A extends AnyAction> = "one" extends A["on"] ? A["operation"] : never;

/**
 * @internal The arguments of `Resource.action()` after the name. An identifier for an action on a list does not
 * compile.
 */
export type ActionArgs<M, A extends AnyAction> = A["on"] extends infer On
  ? On extends "one" ? [id: string, ...rest: EntityActionArgs<M, A>]
  : RestArgs<A, Omit<ActionOptions<M>, keyof ActionMatch>>
  : never;

/** @internal */
export type EntityActionArgs<M, A extends AnyAction> = RestArgs<A, ActionOptions<M>>;

/** @internal The options that an action on a list lacks, because `If-Match` names the version of one entity. */
export type ActionMatch = Pick<MatchOptions, "ifMatch">;

/**
 * @internal The body and the options `O` of an action. Options are required for `GET`, because the client sends `POST`
 * unless the option `method` is set.
 */
export type RestArgs<A extends AnyAction, O> = "GET" | "POST" extends A["method"]
  ? [body?: ActionBody<A["body"]>, options?: O]
  : A["method"] extends "GET" ? [body: undefined, options: O & { readonly method: "GET" }]
  : undefined extends A["body"]
    ? [body?: ActionBody<A["body"]>, options?: O & { readonly method?: "POST" | undefined }]
  : [body: ActionBody<A["body"]>, options?: O & { readonly method?: "POST" | undefined }];

/** @internal */
export type ActionBody<B> = B extends abstract new () => FrameworkModel
  ? FrameworkModel extends InstanceType<B> ? object : NewOf<InstanceType<B>>
  : B extends StandardSchema ? unknown extends TypeIn<B, "input"> ? object
    : Input<TypeIn<B, "input">>
  : undefined;

/** @internal */
export type ResultIn<A extends AnyAction> = A extends {
  readonly run: (...args: never) => infer R;
} ? Awaited<R>
  : never;

/** @internal */
export type AnswerOf<M, D, R> = [D] extends [undefined]
  ? EntityIn<M, Exclude<R, Nothing>> | NothingIn<R>
  : undefined extends D ? unknown
  : DataIn<D, Exclude<R, Nothing>> | NothingIn<R>;

/** @internal The results of `run` for which the server sends no body. */
export type Nothing = null | undefined | void;

/** @internal */
export type NothingIn<R> = [Extract<R, Nothing>] extends [never] ? never : undefined;

/** @internal */
export type EntityIn<M, R> = [R] extends [never] ? never : Json<M>;

/**
 * @internal The answer of an action whose option `answer` is `D`. For a class, the answer has `_id` and `__v` only if
 * the result `R` of `run` is an entity, because other objects have neither.
 */
export type DataIn<D, R> = D extends abstract new () => infer T
  ? [R] extends [{ readonly _id: unknown; readonly __v: unknown }] ? Json<T>
  : Omit<Json<T>, "_id" | "__v">
  : D extends StandardSchema ? JsonValue<TypeIn<D, "output">>
  : unknown;
