import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { HookName } from "../declare/hooks/hooks.ts";
import type { OperationName } from "../declare/operations/operation.ts";
import type { Shape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import type { Response } from "express-types";
import type { Description } from "./description.ts";
import type { GivenRequest } from "./given_request.ts";
import type { OptionPlace, OptionReader } from "./option_reader.ts";
import type { Found, Pieces } from "./pieces.ts";
import type { Reply } from "./request/reply.ts";
import type { Call, OpenLevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";

/**
 * The name of a field in an option of an operation, such as in `sort: ["price"]`. Code can read the name only by
 * {@linkcode DeclaredField.seenBy}, for a reader who may see the field. An option can therefore never reveal a field
 * that is hidden from the reader.
 */
export class DeclaredField {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Returns the name of the field in a list if a reader who sees the fields of `shape` may see the field, and an empty
   * list otherwise, so that `flatMap()` leaves out hidden fields. Without `shape`, the field belongs to a model that
   * Mongoose alone has made, in which no option `hidden` exists.
   */
  seenBy(shape: Shape | undefined): string[] {
    const isSeen = shape === undefined || shape.fields.get(this.#name)?.hidden === false;
    return isSeen ? [this.#name] : [];
  }
}

/**
 * Returns the names of the fields that a reader may see, or `undefined` if there are none. This is the phase `narrow`
 * of each feature whose option is a list of fields.
 */
export function narrowFields(
  declared: readonly DeclaredField[],
  reader: Shape,
): readonly string[] | undefined {
  const names = declared.flatMap((field) => field.seenBy(reader));
  return names.length === 0 ? undefined : names;
}

/**
 * A path whose values decide the result of a request although the answer does not show them, such as a path of a text
 * index. The class keeps the path private until a reader is known who may see its values. The path `$**` stands for all
 * fields.
 */
export class DeclaredPath {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  isSeenBy(shape: Shape): boolean {
    return this.#path === "$**" ? !shape.secretive : !isHiddenPath(this.#path, shape);
  }
}

/**
 * The type `T`, in which each string is replaced by an error text, except a union of literals. The checked option of a
 * feature must have this type, so that a feature that keeps the name of a field as a plain string does not compile.
 * Such a name could reach a reader from whom the field is hidden.
 */
export type Nameless<T> = T extends string ? string extends T ? "use DeclaredField" : T
  : T extends DeclaredField | DeclaredPath | ((...args: never) => unknown) ? T
  : T extends object ? { readonly [K in keyof T]: Nameless<T[K]> }
  : T;

/**
 * The types of the values that the phases of a feature pass on. `declared` is the checked option, `rule` is the option
 * without the fields that are hidden from the reader, `params` are the parameters of one request, and `captured` is the
 * result of the phase `capture`.
 */
export interface FeatureTypes {
  readonly declared: unknown;
  readonly rule: unknown;
  readonly params: unknown;
  readonly captured: unknown;
}

/**
 * The types of a feature whose option names no field, such as `page` or `count`. Nothing in the option can be hidden
 * from a reader, so the checked option (`declared`) and the option for a reader (`rule`) are one type.
 */
export interface Plain<R, P, C = undefined> {
  readonly declared: R;
  readonly rule: R;
  readonly params: P;
  readonly captured: C;
}

/**
 * A condition that an operation must meet to have a feature, such as the absence of a hook. If the operation does not
 * meet the condition, the start of the application fails with the given reason.
 */
export type Requirement =
  /**
   * The way in which the feature reads entities. With `"query"`, the operation cannot have a `fetch` hook, which would
   * replace the query of the framework. With `"aggregation"`, the model cannot have middleware of `find()`, which does
   * not apply to aggregations.
   */
  | { readonly needs: "query" | "aggregation" }
  | { readonly needs: "_id" | "collection"; readonly reason: string }
  | {
    readonly withoutHooks: readonly HookName[];
    /** Returns the reason why an operation with the hook cannot have the feature, as the end of the error message. */
    readonly reason: (hook: HookName) => string;
  };

/**
 * The rules of a feature whose answer replaces the usual answer of an operation, such as groups in the place of
 * entities. A request can use only one such feature, and only the features in `keeps` with it. Other parameters are
 * refused, because they would have no effect.
 */
export interface Exclusive {
  /** The names of the features that a request can use together with this feature. */
  readonly keeps: readonly string[];
  /**
   * The end of the error message for a parameter that a client cannot send together with this feature, such as `no
   * distinct beside it` in `Parameter "page" takes no distinct beside it`.
   */
  readonly allowed: string;
  /**
   * A plural noun for the results of the feature in error messages, such as `Groups` in `Groups are not distinct
   * values`.
   */
  readonly noun: string;
  /**
   * Returns the error message for a request that asks for this feature and for another feature whose answer replaces
   * the usual answer. `noun` is the property of the other feature, such as `Groups`.
   */
  clash(noun: string): string;
}

/**
 * The code of a feature. A feature is an ability that an option adds to operations, such as pages or sorting. Each
 * method is one phase, and the framework runs the phases of all features in the order of this interface. A phase gets
 * only its arguments, so that `parse` cannot use fields that are hidden from the reader of the request.
 */
export interface Feature<T extends FeatureTypes> {
  readonly name: string;
  /**
   * The name of the option that turns the feature on in the declaration of an operation. Missing if the option has the
   * same name as the feature. Two features may share an option, such as `formats`, which has one meaning for lists and
   * another meaning for bodies.
   */
  readonly option?: string;
  /**
   * The names of further options that belong to the feature, such as `atomic` for the option `many`. The method `check`
   * reads them by `OptionReader.other()`. Each of these options without the main option of the feature is an error at
   * start-up, because it would have no effect.
   */
  readonly also?: readonly string[];
  readonly operations: readonly OperationName[];
  /** Whether the option can be `false`, which says that the operation goes without the feature. */
  readonly takesFalse?: true;
  readonly requirements?: readonly Requirement[];
  readonly exclusive?: Exclusive;
  /**
   * The query parameters of the feature. `"one"` stands for a parameter with one value, and `"list"` for a parameter
   * with values that are separated by commas. If an operation does not have the feature, its requests must not have
   * these parameters.
   */
  readonly parameters?: Readonly<Record<string, "one" | "list">>;
  /**
   * The headers of a request that change the answer of the route. Every answer names them in its header `Vary`, so that
   * caches store separate answers.
   */
  readonly varies?: readonly string[];
  /**
   * Whether the feature reads entities that the filter `q` of the client may exclude, such as the entity of a cursor.
   * Such a read applies only the conditions that hooks have added to the filter, so the framework then keeps the
   * conditions of the client and of the hooks apart.
   */
  readonly readsBeyondFilter?: boolean;
  /**
   * Checks the option of `Framework.initialize()` with the settings of the feature, such as the limits of live lists,
   * and adds the default values. All routes of a router share the result.
   */
  settings?(given: unknown): unknown;
  /**
   * Reads and checks the option of an operation, such as `page`, at start-up. Throws an error that names the class if
   * the option is wrong.
   */
  check(option: OptionReader, place: OptionPlace): Nameless<T["declared"]>;
  /**
   * Returns the checked option without the fields that are hidden from the given reader, so that no request of this
   * reader can use them. Returns `undefined` if no field is left, so that this reader does not have the feature.
   */
  narrow(declared: Nameless<T["declared"]>, reader: Shape): T["rule"] | undefined;
  /**
   * Returns the description of the feature for the OpenAPI document. The phase `parse` can read only the parameters and
   * headers in the description, so that the document is complete.
   */
  describe(rule: T["rule"]): Description;
  /**
   * Runs when a router is mounted, to log hints, such as about missing indexes, and to check that the database can
   * serve the feature, such as by transactions.
   */
  start?(rule: T["rule"], route: Route): void;
  /**
   * Reads the request before the first hook runs, for values that a hook could change, such as the hash of the body.
   * The phase `parse` gets the result.
   */
  capture?(req: FrameworkRequest): T["captured"];
  /**
   * Whether a request asks for this feature, whose answer replaces the usual answer of the operation (`exclusive`).
   * Without the method `asks`, a result of `parse` other than `undefined` means that the request asks for the feature.
   * A feature whose `parse` reads the body needs `asks`, so that the framework refuses wrong headers before it reads
   * the body.
   */
  asks?(rule: T["rule"], given: GivenRequest<T["captured"]>): boolean;
  /**
   * Reads the parameters of a request after the `preFetch` hooks. Returns `undefined` if the request does not use the
   * feature.
   */
  parse(rule: T["rule"], given: GivenRequest<T["captured"]>): T["params"] | undefined;
  /**
   * Returns the changes of the feature to the query and to the answer, such as a sort order, from the parameters of the
   * request.
   */
  select?(params: T["params"]): Pieces;
  /**
   * Returns a function that sends the whole answer in the place of the operation, such as a live list. The function
   * runs before the database is read. Only a feature with the property `exclusive` has this method.
   */
  takeOver?(params: T["params"], call: Call): (res: Response) => Promise<void>;
  /**
   * Returns the changes of the feature to the query and to the answer for which the feature needs the database, such as
   * the entities to populate.
   */
  prepare?(params: T["params"], context: OpenLevelContext): Promise<Pieces>;
  /**
   * Returns the answer in the place of the operation, such as the groups of a list. Only a feature with the property
   * `exclusive` has this method.
   */
  respond?(params: T["params"], context: OpenLevelContext): Promise<Reply>;
  /**
   * Runs the operation, with work before and after it, such as a lookup of an idempotency key. If several features have
   * this method, the first in the list of features does its work before and after the work of all others.
   */
  wrap?(params: T["params"], operation: WrappedOperation): Promise<Reply>;
  /** Returns the headers that the feature adds to the answer with a list, such as `Link`. */
  headers?(params: T["params"], list: FoundList): Readonly<Record<string, string>>;
}

/**
 * The operation of a request, for a feature that does work before and after the operation. `run()` performs the
 * operation and returns its answer.
 */
export interface WrappedOperation {
  readonly context: OpenLevelContext;
  run(): Promise<Reply>;
}

/**
 * The result of the read of a list and the context of its request, from which the features make headers such as `Link`
 * and `X-Total-Count`.
 */
export interface FoundList extends Found {
  readonly context: OpenLevelContext;
}

type Members<F> = { readonly [K in keyof F]: F[K] };

/**
 * A feature whose types are not known, for lists of several features. The framework passes to each phase only the
 * results of earlier phases of the same feature, so the values have the right types.
 */
export type AnyFeature = Members<Feature<FeatureTypes>>;

/** A feature that a request uses, with the parameters that its phase `parse` has read from the request. */
export interface ActiveFeature {
  readonly feature: AnyFeature;
  readonly params: unknown;
}
