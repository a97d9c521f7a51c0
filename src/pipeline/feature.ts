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
 * The name of a field in an option. Code can read it only for a reader who may see the field, so an option never
 * reveals a field that is hidden from the reader.
 */
export class DeclaredField {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * A list, so that `flatMap()` leaves out hidden fields. Without `shape`, the model is made by Mongoose alone, without
   * the option `hidden`.
   */
  seenBy(shape: Shape | undefined): string[] {
    const isSeen = shape === undefined || shape.fields.get(this.#name)?.hidden === false;
    return isSeen ? [this.#name] : [];
  }
}

/** The phase `narrow` of each feature whose option is a list of fields. */
export function narrowFields(
  declared: readonly DeclaredField[],
  reader: Shape,
): readonly string[] | undefined {
  const names = declared.flatMap((field) => field.seenBy(reader));
  return names.length === 0 ? undefined : names;
}

/**
 * A path whose values decide the result of a request although the answer does not show them. It stays private until a
 * reader may see its values, and `$**` stands for all fields.
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
 * A feature that keeps the name of a field as a plain string does not compile with this type. Such a name could reach a
 * reader from whom the field is hidden.
 */
export type Nameless<T> = T extends string ? string extends T ? "use DeclaredField" : T
  : T extends DeclaredField | DeclaredPath | ((...args: never) => unknown) ? T
  : T extends object ? { readonly [K in keyof T]: Nameless<T[K]> }
  : T;

/** `declared` is the checked option, `rule` is the option without the fields that are hidden from the reader. */
export interface FeatureTypes {
  readonly declared: unknown;
  readonly rule: unknown;
  readonly params: unknown;
  readonly captured: unknown;
}

/** The types of a feature whose option names no field, so that nothing in it can be hidden from a reader. */
export interface Plain<R, P, C = undefined> {
  readonly declared: R;
  readonly rule: R;
  readonly params: P;
  readonly captured: C;
}

/** The start of the application fails with the reason if an operation does not meet the condition of its feature. */
export type Requirement =
  /** A `fetch` hook would replace the query of the framework. Middleware of `find()` does not apply to aggregations. */
  | { readonly needs: "query" | "aggregation" }
  | { readonly needs: "_id" | "collection"; readonly reason: string }
  | {
    readonly withoutHooks: readonly HookName[];
    /** The end of the error message. */
    readonly reason: (hook: HookName) => string;
  };

/**
 * The rules of a feature whose answer replaces the usual answer. Parameters of features outside `keeps` are refused,
 * because they would have no effect.
 */
export interface Exclusive {
  /** The features that a request can use together with this feature. */
  readonly keeps: readonly string[];
  /** The end of the error message for a parameter that a client cannot send together with this feature. */
  readonly allowed: string;
  /** A plural noun for the results of the feature in error messages. */
  readonly noun: string;
  /**
   * The error message for a request that asks for this feature and for another exclusive feature with the given `noun`.
   */
  clash(noun: string): string;
}

/**
 * Each method is one phase, and the framework runs the phases of all features in the order of this interface. A phase
 * gets only its arguments, so that `parse` cannot use fields that are hidden from the reader.
 */
export interface Feature<T extends FeatureTypes> {
  readonly name: string;
  /** The name of the option if it is not `name`. Two features may share an option. */
  readonly option?: string;
  /**
   * Further options, which `check` reads by `OptionReader.other()`. Without the main option they are an error at
   * start-up, because they would have no effect.
   */
  readonly also?: readonly string[];
  readonly operations: readonly OperationName[];
  /** Whether the option can be `false`, which says that the operation goes without the feature. */
  readonly takesFalse?: true;
  readonly requirements?: readonly Requirement[];
  readonly exclusive?: Exclusive;
  /**
   * `"list"` stands for values that are separated by commas. Requests of an operation without the feature must not have
   * these parameters.
   */
  readonly parameters?: Readonly<Record<string, "one" | "list">>;
  /**
   * Headers of a request that change the answer. Every answer names them in `Vary`, so that caches store separate
   * answers.
   */
  readonly varies?: readonly string[];
  /**
   * Whether the feature reads entities that the client's filter `q` may exclude. Such a read applies only the
   * conditions of hooks, which the framework then keeps apart.
   */
  readonly readsBeyondFilter?: boolean;
  /** Checks the option of `Framework.initialize()` and adds defaults. All routes of a router share the result. */
  settings?(given: unknown): unknown;
  /** Runs at start-up. Throws an error that names the class if the option is wrong. */
  check(option: OptionReader, place: OptionPlace): Nameless<T["declared"]>;
  /**
   * Leaves out the fields that are hidden from the reader. `undefined` means that this reader does not have the
   * feature.
   */
  narrow(declared: Nameless<T["declared"]>, reader: Shape): T["rule"] | undefined;
  /** The phase `parse` can read only the described parameters and headers, so that the OpenAPI document is complete. */
  describe(rule: T["rule"]): Description;
  /** Runs when a router is mounted, to log hints and to check that the database can serve the feature. */
  start?(rule: T["rule"], route: Route): void;
  /** Runs before the first hook, for values that a hook could change. */
  capture?(req: FrameworkRequest): T["captured"];
  /**
   * Whether a request asks for an exclusive feature. A feature whose `parse` reads the body needs this method, so that
   * wrong headers are refused before the body is read. By default, a result of `parse` decides.
   */
  asks?(rule: T["rule"], given: GivenRequest<T["captured"]>): boolean;
  /** Runs after the `preFetch` hooks. `undefined` means that the request does not use the feature. */
  parse(rule: T["rule"], given: GivenRequest<T["captured"]>): T["params"] | undefined;
  /** The changes to the query and to the answer that need no database. */
  select?(params: T["params"]): Pieces;
  /** Sends the whole answer before the database is read. Only for a feature with `exclusive`. */
  takeOver?(params: T["params"], call: Call): (res: Response) => Promise<void>;
  /** The changes to the query and to the answer that need the database. */
  prepare?(params: T["params"], context: OpenLevelContext): Promise<Pieces>;
  /** The answer in the place of the operation. Only for a feature with `exclusive`. */
  respond?(params: T["params"], context: OpenLevelContext): Promise<Reply>;
  /** Runs the operation, with work before and after it. The first feature in the list of features is the outermost. */
  wrap?(params: T["params"], operation: WrappedOperation): Promise<Reply>;
  /** Headers of the answer with a list. */
  headers?(params: T["params"], list: FoundList): Readonly<Record<string, string>>;
}

export interface WrappedOperation {
  readonly context: OpenLevelContext;
  run(): Promise<Reply>;
}

export interface FoundList extends Found {
  readonly context: OpenLevelContext;
}

type Members<F> = { readonly [K in keyof F]: F[K] };

/**
 * The framework passes to each phase only the results of earlier phases of the same feature, so the values have the
 * right types.
 */
export type AnyFeature = Members<Feature<FeatureTypes>>;

export interface ActiveFeature {
  readonly feature: AnyFeature;
  readonly params: unknown;
}
