import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import type { HookName } from "../declare/hooks/hooks.ts";
import type { OperationName } from "../declare/operations/operation.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { isHiddenPath } from "../schema/fields/visibility.ts";
import type { Response } from "express-types";
import type { Description } from "./description.ts";
import type { GivenRequest } from "./given_request.ts";
import type { OptionPlace, OptionReader } from "./option_reader.ts";
import type { Found, Pieces } from "./pieces.ts";
import type { Answer } from "./request/answer.ts";
import type { Call, OpenLevelContext } from "./request/request_context.ts";
import type { Route } from "./request/route.ts";

/** The name is only for readers who may see the field, so that no option reveals it. */
export class DeclaredField {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /**
   * Returns nothing for a hidden field. Without a `shape`, the field is of a plain Mongoose model, which hides nothing.
   */
  visibleTo(shape: Shape | undefined): string[] {
    const isVisible = shape === undefined || shape.fields.get(this.#name)?.hidden === false;
    return isVisible ? [this.#name] : [];
  }
}

export function narrowFields(
  declared: readonly DeclaredField[],
  reader: Shape,
): readonly string[] | undefined {
  const names = declared.flatMap((field) => field.visibleTo(reader));
  return names.length === 0 ? undefined : names;
}

/**
 * A path of a search index. Answers do not show it, but a client could guess hidden values by searching. `$**` stands
 * for all fields.
 */
export class DeclaredPath {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  isVisibleTo(shape: Shape): boolean {
    return this.#path === "$**" ? !shape.secretive : !isHiddenPath(this.#path, shape);
  }
}

/** A plain string could reveal the name of a hidden field. */
export type Nameless<T> = T extends string ? string extends T ? "use DeclaredField" : T
  : T extends DeclaredField | DeclaredPath | ((...args: never) => unknown) ? T
  : T extends object ? { readonly [K in keyof T]: Nameless<T[K]> }
  : T;

export interface FeatureTypes {
  readonly declared: unknown;
  readonly config: unknown;
  readonly params: unknown;
  readonly captured: unknown;
}

export interface Plain<R, P, C = undefined> {
  readonly declared: R;
  readonly config: R;
  readonly params: P;
  readonly captured: C;
}

export type Requirement =
  /**
   * `"query"` refuses a `fetch` hook, which would replace the query. `"aggregation"` refuses middleware of `find()`,
   * which would not run.
   */
  | { readonly needs: "query" | "aggregation" }
  | { readonly needs: "_id" | "collection"; readonly reason: string }
  | {
    readonly withoutHooks: readonly HookName[];
    readonly reason: (hook: HookName) => string;
  };

/** An exclusive feature leaves parameters outside `keeps` without effect, so they are refused. */
export interface Exclusive {
  readonly keeps: readonly string[];
  readonly allowed: string;
  readonly noun: string;
  clash(noun: string): string;
}

export type GivenSettings = Readonly<Record<string, unknown>>;

/**
 * The methods run in this order. Each gets only results of earlier ones, so `parse` cannot use fields that `narrow` has
 * left out.
 */
export interface Feature<T extends FeatureTypes> {
  readonly name: string;
  /** By default `name`. `check` reads further options by `OptionReader.other()`. */
  readonly options?: readonly [string, ...string[]];
  readonly operations: readonly OperationName[];
  readonly takesFalse?: true;
  readonly requirements?: readonly Requirement[];
  readonly exclusive?: Exclusive;
  /** `"list"` values are separated by commas. */
  readonly parameters?: Readonly<Record<string, "one" | "list">>;
  /** A further operation that plugins see for a request with the feature. */
  readonly word?: string;
  follows?(params: T["params"]): readonly FieldShape[];
  settings?(given: GivenSettings): unknown;
  check(option: OptionReader, place: OptionPlace): Nameless<T["declared"]>;
  /** Leaves out hidden fields. `undefined` if this reader does not have the feature. */
  narrow(declared: Nameless<T["declared"]>, reader: Shape): T["config"] | undefined;
  /** `parse` can read only described parameters and headers, so that the OpenAPI document is complete. */
  describe(config: T["config"]): Description;
  /** Runs when a router is mounted, to log hints and to check the database. */
  start?(config: T["config"], route: Route): void;
  /** Runs before the first hook, for values that a hook could change. */
  capture?(req: FrameworkRequest): T["captured"];
  /**
   * `undefined` if the request does not use the feature. The body is left to `select`, so that wrong parameters and
   * headers are refused first.
   */
  parse(config: T["config"], given: GivenRequest<T["captured"]>): T["params"] | undefined;
  /** Changes the query and the answer, without the database. */
  select?(params: T["params"]): Pieces;
  /** Sends the whole answer before the database is read. Needs `exclusive`. */
  takeOver?(params: T["params"], call: Call): (res: Response) => Promise<void>;
  /** As `select`, with the database. */
  prepare?(params: T["params"], context: OpenLevelContext): Promise<Pieces>;
  /** Replaces the operation. Needs `exclusive`. */
  respond?(params: T["params"], context: OpenLevelContext): Promise<Answer>;
  wrap?(params: T["params"], operation: WrappedOperation): Promise<Answer>;
  headers?(params: T["params"], list: FoundList): Readonly<Record<string, string>>;
}

export interface WrappedOperation {
  readonly context: OpenLevelContext;
  run(context: OpenLevelContext): Promise<Answer>;
}

export interface FoundList extends Found {
  readonly context: OpenLevelContext;
}

type Members<F> = { readonly [K in keyof F]: F[K] };

/** All features in a list have this type. It is safe, because no method gets results of another feature. */
export type AnyFeature = Members<Feature<FeatureTypes>>;

export interface ActiveFeature {
  readonly feature: AnyFeature;
  readonly params: unknown;
}
