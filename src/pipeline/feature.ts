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
 * The name of a field in the declaration of an option. Only {@linkcode DeclaredField.seenBy} returns the name, so that
 * no feature can use a field that its reader may not see.
 */
export class DeclaredField {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Returns the name in a list if the reader with the given shape sees the field, and else an empty list. Without a
   * shape, no class declares the field, so no rule hides it.
   */
  seenBy(shape: Shape | undefined): string[] {
    const isSeen = shape === undefined || shape.fields.get(this.#name)?.hidden === false;
    return isSeen ? [this.#name] : [];
  }
}

/** A path of which the database compares values, such as a path of a text index. `$**` stands for all paths. */
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
 * A type without strings that could be names of fields. A string, except a union of literals, becomes an error text, so
 * that a declared rule with the name of a field does not compile.
 */
export type Nameless<T> = T extends string ? string extends T ? "use DeclaredField" : T
  : T extends DeclaredField | DeclaredPath | ((...args: never) => unknown) ? T
  : T extends object ? { readonly [K in keyof T]: Nameless<T[K]> }
  : T;

/** The types of a feature, which are the declared rule, the rule of one reader, and the values of one request. */
export interface FeatureTypes {
  readonly declared: unknown;
  readonly rule: unknown;
  readonly params: unknown;
  readonly captured: unknown;
}

/** The types of a feature whose rule names no field, so that the rule is the same for all readers. */
export interface Plain<R, P, C = undefined> {
  readonly declared: R;
  readonly rule: R;
  readonly params: P;
  readonly captured: C;
}

/** A condition on an operation that has a feature. The start fails if the operation does not meet the condition. */
export type Requirement =
  | { readonly needs: "_id" | "collection"; readonly reason: string }
  | {
    readonly withoutHooks: readonly HookName[];
    /** Returns the end of the error message, for the hook that the operation has. */
    readonly reason: (hook: HookName) => string;
  };

/**
 * The rules of a feature that answers in the place of the operation. The parameters of all other features are refused
 * beside it.
 */
export interface Exclusive {
  /** The names of the features that still apply. */
  readonly keeps: readonly string[];
  /** The allowed use of a refused parameter, for the error message. */
  readonly allowed: string;
  /** The subject of an error message about this feature, in the plural. */
  readonly noun: string;
  /** Returns the error message for a request that also asks for another exclusive feature, by its `noun`. */
  clash(noun: string): string;
}

/**
 * An option of operations, from its declaration to the answer. The kernel runs the phases in the order in which they
 * stand here. A phase gets only its arguments, so that `parse` cannot see the fields of other readers.
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
   * The names of further options that belong to the feature. `OptionReader.other()` reads them. An operation that has
   * one of them needs the option of the feature too.
   */
  readonly also?: readonly string[];
  /** The operations that can have the option. */
  readonly operations: readonly OperationName[];
  readonly requirements?: readonly Requirement[];
  readonly exclusive?: Exclusive;
  /**
   * The query parameters that the feature owns, each with one value or with a list of values. A request with such a
   * parameter is refused if its operation does not have the feature.
   */
  readonly parameters?: Readonly<Record<string, "one" | "list">>;
  /** The headers of a request that change every answer of the route, for `Vary`. */
  readonly varies?: readonly string[];
  /**
   * Whether the feature reads entities that the filter of the client may exclude. Such a read needs the conditions of
   * hooks separately.
   */
  readonly readsBeyondFilter?: boolean;
  /** Completes the settings of the feature in `Framework.initialize()`, which all routes of a router share. */
  settings?(given: unknown): unknown;
  /** Reads the option at start-up. Throws if the option is wrong. */
  check(option: OptionReader, place: OptionPlace): Nameless<T["declared"]>;
  /** Returns the rule for one kind of reader, or `undefined` if this reader does not have the feature. */
  narrow(declared: Nameless<T["declared"]>, reader: Shape): T["rule"] | undefined;
  /** Describes the feature. `parse` can read only the parameters that the description lists. */
  describe(rule: T["rule"]): Description;
  /** Runs when a router is mounted, for hints and for checks that need a connection. */
  start?(rule: T["rule"], route: Route): void;
  /** Reads the untouched request, because hooks may change the request before `parse` runs. */
  capture?(req: FrameworkRequest): T["captured"];
  /**
   * Whether a request asks for an exclusive feature. Without this function, the result of `parse` decides. A feature
   * whose `parse` reads the body needs the function, so that the kernel refuses wrong headers before the body is read.
   */
  asks?(rule: T["rule"], given: GivenRequest<T["captured"]>): boolean;
  /**
   * Reads the parameters of a request after the `preFetch` hooks. Returns `undefined` if the request does not use the
   * feature.
   */
  parse(rule: T["rule"], given: GivenRequest<T["captured"]>): T["params"] | undefined;
  /** Returns the pieces that depend on the request alone. */
  select?(params: T["params"]): Pieces;
  /** Answers in the place of the operation, before any level is opened. Only for exclusive features. */
  takeOver?(params: T["params"], call: Call): (res: Response) => Promise<void>;
  /** Returns the pieces that depend on the opened level. */
  prepare?(params: T["params"], context: OpenLevelContext): Promise<Pieces>;
  /** Answers in the place of the operation. Only for exclusive features. */
  respond?(params: T["params"], context: OpenLevelContext): Promise<Reply>;
  /** Runs the operation, and may do work before and after it. The first feature in the list is the outermost. */
  wrap?(params: T["params"], operation: WrappedOperation): Promise<Reply>;
  /** Returns the headers of a list. */
  headers?(params: T["params"], list: FoundList): Readonly<Record<string, string>>;
}

/** The operation of a request, as a feature runs it. */
export interface WrappedOperation {
  readonly context: OpenLevelContext;
  run(): Promise<Reply>;
}

/** The result of the read of a list, with the request for which it was read. */
export interface FoundList extends Found {
  readonly context: OpenLevelContext;
}

type Members<F> = { readonly [K in keyof F]: F[K] };

/**
 * A feature of unknown types. The kernel passes to each phase only the results of earlier phases of the same feature,
 * so the types fit.
 */
export type AnyFeature = Members<Feature<FeatureTypes>>;

/** A feature that a request uses, with the values that `parse` has read. */
export interface ActiveFeature {
  readonly feature: AnyFeature;
  readonly params: unknown;
}
