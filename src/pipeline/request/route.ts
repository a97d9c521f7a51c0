import type { Hooks, PreFetch } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { ActionRecord } from "../../declare/operations/action.ts";
import type { Operation } from "../../declare/operations/operation.ts";
import type { ListedPaths } from "../../filter/q/listed_paths.ts";
import type { FilterLimits } from "../../filter/q/limits.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Rights } from "../../schema/fields/rights.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { BodyLimits } from "../../write/body/read_body.ts";
import type { AnswerHeader, BytesFacts, ParameterFacts } from "../description.ts";
import type { FeatureList } from "../feature_list.ts";
import type { PluginSet } from "../plugins/plugin_set.ts";
import type { ActorFunction } from "./actor.ts";
import type { ReaderOptions } from "../reader_options.ts";
import type { RouteRights } from "./reader_rights.ts";
import type { Answer } from "./answer.ts";
import type { Reporter } from "./reporter.ts";
import type { StrictParts } from "./strict_parts.ts";
import type { LevelContext, OpenLevelContext } from "./request_context.ts";

export interface WriteLimits {
  readonly atomic: boolean;
  readonly fields?: ReadonlySet<string>;
  /** A request for more entities gets a 409. */
  readonly max?: number | undefined;
  /** A forgotten `q` would change all entities. */
  readonly needsQ: boolean;
  readonly by?: string;
  readonly isRead?: boolean;
}

/** A segment of a route. The last level runs the operation. */
export interface Level {
  readonly target: ModelClass;
  /** The path without parameters, by which plugins name operations. */
  readonly routeName: string;
  readonly shape: Shape;
  /** For a parent in the path, `one`, or `update` if strict guards treat the write as a change of the parent. */
  readonly operation: string;
  readonly traits: Operation;
  readonly action?: ActionRecord;
  /** Answers a route that a class option has added. */
  readonly perform?: ((context: OpenLevelContext) => Promise<Answer>) | undefined;
  readonly checkRights?: ((context: LevelContext) => void) | undefined;
  readonly checkRequest?: ((context: LevelContext) => void) | undefined;
  readonly bytes?: BytesFacts | undefined;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>> | undefined;
  /** Missing before the reader is known. */
  readonly rights?: Rights;
  readonly hooks: Hooks<object>;
  /** Whether requests need not pass the guard of the router. */
  readonly isOpen: boolean;
  /** Parameters of options of another `@rest`, with which requests to an open level must pass the guard. */
  readonly guardedParameters?: readonly string[];
  /**
   * The start fails for this reason if guards are strict and the level has no `preFetch` hook, as in `"User" above it
   * has no update()`.
   */
  readonly lacks?: string;
  /** Parameters that hooks and class options read, which `strict` does not refuse. */
  readonly parameters: readonly string[];
  readonly added?: Readonly<Record<string, ParameterFacts>>;
  readonly options: ReaderOptions;
  readonly writes?: WriteLimits | undefined;
  /** Missing if a filter may name every visible path. */
  readonly filterPaths?: ListedPaths | undefined;
  /** Set for `Framework.queryFor()`, because `q` of the request filters another model. */
  readonly ignoresQ?: boolean;
  /** The version field of the document that contains the entities. */
  readonly versionKey: string | undefined;
  readonly ifMatch?: RestRecord["ifMatch"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /**
   * Conditions of class options. They select as `scopes` do, but only `scopes` make options such as `caller` of
   * `idempotency` required.
   */
  readonly conditions: readonly NonNullable<RestRecord["scope"]>[];
  /** The path parameter with the identifier. Missing if the parent holds only one entity. */
  readonly parameter?: string;
  readonly link?: PartLink;
}

export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  /** The level of `one()`. Its hooks decide whether a repeated request with an idempotency key may show the entity. */
  readonly reader?: Level | undefined;
  readonly actions?: readonly Level[] | undefined;
  readonly rights?: RouteRights | undefined;
  readonly maxTimeMS: number;
  /** The time for each chunk, after which the connection of a slow client is reset. */
  readonly sendTimeoutMS: number;
  readonly limits: FilterLimits;
  readonly filterPaths?: "listed" | undefined;
  readonly strict: StrictParts;
  /** Runs before all other hooks, unless the level is open. */
  readonly guard?: PreFetch | undefined;
  /**
   * Which writes get a 503 until unique indexes are built, so that no duplicate is stored. By default, only writes of
   * their fields.
   */
  readonly indexes?: "required" | "lazy" | undefined;
  readonly queryMethod?: boolean | undefined;
  readonly actor?: ActorFunction | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
  readonly features: FeatureList;
  readonly plugins: PluginSet;
  readonly settings: ReadonlyMap<string, unknown>;
}

/** For a parent in the path, the name includes the properties below it, as in `comments.create`. */
export function operationAt(route: Route, index: number): string {
  const below = route.levels.slice(index + 1).map(({ link }) => link?.property);
  return [...below, actingLevel(route).operation].join(".");
}

export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}

export function takesQueryMethod(route: Route): boolean {
  return route.queryMethod === true && actingLevel(route).operation === "all";
}
