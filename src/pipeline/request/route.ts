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
import type { ActorFunction } from "./actor.ts";
import type { ReaderOptions } from "../reader_options.ts";
import type { RouteRights } from "./reader_rights.ts";
import type { Reply } from "./reply.ts";
import type { Reporter } from "./reporter.ts";
import type { StrictParts } from "./strict_parts.ts";
import type { LevelContext, OpenLevelContext } from "./request_context.ts";

export interface WriteRules {
  readonly atomic: boolean;
  /** The fields that a body of `updateAll()` may set. */
  readonly fields?: ReadonlySet<string>;
  /** A request that selects more entities gets a 409. */
  readonly max?: number | undefined;
  /** Whether a request without the filter `q` is refused, so that a forgotten `q` does not change all entities. */
  readonly needsQ: boolean;
  /** The field by which the path of `replace()` identifies an entity. */
  readonly by?: string;
  readonly isRead?: boolean;
}

/** A segment of a route. The last level runs the operation, and the entities of the levels above it are read first. */
export interface Level {
  readonly target: ModelClass;
  readonly shape: Shape;
  /**
   * Levels above the last have `one`, because one entity of each is read, or `update` if strict guards count the write
   * below them as a change of it.
   */
  readonly operation: string;
  readonly kind: Operation;
  readonly action?: ActionRecord;
  /** Answers the requests of a route that a class option has added. */
  readonly perform?: ((context: OpenLevelContext) => Promise<Reply>) | undefined;
  /** Throws a 403 if the reader has no right to a route that a class option has added. */
  readonly checkRights?: ((context: LevelContext) => void) | undefined;
  /** Runs before any entity is read, for a route that a class option has added. */
  readonly checkRequest?: ((context: LevelContext) => void) | undefined;
  /** Bodies and answers that are bytes and no JSON. */
  readonly bytes?: BytesFacts | undefined;
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>> | undefined;
  /** `undefined` before the reader is known, and if no field of the route has a function `hidden` or `readonly`. */
  readonly rights?: Rights;
  readonly hooks: Hooks<object>;
  /** Whether requests need not pass the guard of the router. */
  readonly isOpen: boolean;
  /** The reason why strict guards want a `preFetch` hook of a write below an entity. */
  readonly lacks?: string;
  /** Query parameters that hooks and class options read, so that the option `strict` does not refuse them. */
  readonly parameters: readonly string[];
  /** Query parameters that class options have added. */
  readonly added?: Readonly<Record<string, ParameterFacts>>;
  /** Without the fields that are hidden from the reader. */
  readonly options: ReaderOptions;
  readonly writes?: WriteRules | undefined;
  /** The only paths that a filter of a client may name. Without them, it may name every visible path. */
  readonly filterPaths?: ListedPaths | undefined;
  /** Set by `Framework.queryFor()`, because `q` belongs to the model of the route and not to the model of the query. */
  readonly ignoresQ?: boolean;
  /**
   * The field with the version of the document that contains the entities. `undefined` if the document has no version.
   */
  readonly versionKey: string | undefined;
  readonly ifMatch?: RestRecord["ifMatch"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /**
   * Conditions of class options, which apply as scopes do. Unlike a scope, they do not make options such as `caller` of
   * `idempotency` required.
   */
  readonly conditions: readonly NonNullable<RestRecord["scope"]>[];
  /** The path parameter with the identifier of the entity. Missing if the parent holds only one entity. */
  readonly parameter?: string;
  readonly link?: PartLink;
}

export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  /**
   * The level of `one()` in the same `@rest`. Its hooks decide whether a repeated request with an idempotency key may
   * show the entity that an earlier request has created.
   */
  readonly reader?: Level | undefined;
  /**
   * The actions on one entity that the answer of `one()` names in `Link`. Missing if no action of the `@rest` has the
   * option `available`.
   */
  readonly actions?: readonly Level[] | undefined;
  readonly rights?: RouteRights | undefined;
  readonly maxTimeMS: number;
  /** The time in which a client must read each chunk of an answer. The connection of a slower client is reset. */
  readonly sendTimeoutMS: number;
  readonly limits: FilterLimits;
  /** With `"listed"`, filters may name only the paths in the option `filter` of their operation. */
  readonly filterPaths?: "listed" | undefined;
  readonly strict: StrictParts;
  /** Runs before all other hooks for each request, unless its level is open. */
  readonly guard?: PreFetch | undefined;
  /**
   * The writes that get a 503 while a unique index is not built yet, because they could store a duplicate. By default,
   * a write needs the indexes of the fields that it sets. With `"required"` it needs all, and with `"lazy"` only
   * `replace()` by another field than `_id` needs them.
   */
  readonly indexes?: "required" | "lazy" | undefined;
  /** Whether clients can also send the parameters of a list in the body of a `QUERY`. */
  readonly queryMethod?: boolean | undefined;
  /** Missing if the application records no senders. */
  readonly actor?: ActorFunction | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
  readonly features: FeatureList;
  /** By the names of the features. All routes of the router share the settings. */
  readonly settings: ReadonlyMap<string, unknown>;
}

/** At a level above, the name contains the properties below it: `comments.create` at the movie of a new comment. */
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
