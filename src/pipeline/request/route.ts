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
  /** The names of the fields that a body of `updateAll()` may set. */
  readonly fields?: ReadonlySet<string>;
  /** The maximum number of entities that a request may change or remove. A request that selects more gets a 409. */
  readonly max?: number | undefined;
  /** Whether a request without the filter `q` is refused, so that a forgotten `q` does not change all entities. */
  readonly needsQ: boolean;
  /** The name of the field by which the path of `replace()` identifies an entity. */
  readonly by?: string;
  readonly isRead?: boolean;
}

/**
 * A segment of a route, such as `/movies/:id`, with its class, fields, hooks and options. The last level runs the
 * operation. The entities of the levels above it are read first, so that a hidden parent also hides its parts.
 */
export interface Level {
  readonly target: ModelClass;
  readonly shape: Shape;
  /**
   * The name of the operation or the action at this level. Levels above the last level have `one`, because one entity
   * of each of them is read, or `update` if strict guards count the write below them as a change of it.
   */
  readonly operation: string;
  readonly kind: Operation;
  readonly action?: ActionRecord;
  /**
   * Answers the requests of a route that a class option has added, such as the restoration of an entity from the trash.
   * Missing for operations and actions.
   */
  readonly perform?: ((context: OpenLevelContext) => Promise<Reply>) | undefined;
  /**
   * Throws a 403 if the reader of a request has no right to a route that a class option has added, such as the upload
   * of a file to a read-only property.
   */
  readonly checkRights?: ((context: LevelContext) => void) | undefined;
  /**
   * Checks a request to a route that a class option has added, such as the media type of an uploaded file, before any
   * entity is read. Throws an error for the client.
   */
  readonly checkRequest?: ((context: LevelContext) => void) | undefined;
  /** The description of bodies and answers that are bytes, such as files, and no JSON, for the OpenAPI document. */
  readonly bytes?: BytesFacts | undefined;
  /** The headers in the answers of a route that a class option has added, for the OpenAPI document. */
  readonly answerHeaders?: Readonly<Record<string, AnswerHeader>> | undefined;
  /**
   * The results of the functions `hidden` and `readonly` for the reader of the request. `undefined` before the reader
   * is known, and if no field of the route has such a function.
   */
  readonly rights?: Rights;
  readonly hooks: Hooks<object>;
  /** Whether requests to this level need not pass the guard of the router. */
  readonly isOpen: boolean;
  /** The reason why strict guards want a `preFetch` hook of a write below an entity, for the error at start-up. */
  readonly lacks?: string;
  /**
   * The names of the query parameters that hooks and class options read, so that the option `strict` does not refuse
   * them.
   */
  readonly parameters: readonly string[];
  /** The query parameters that class options have added, such as `trash`, by name, for descriptions of the API. */
  readonly added?: Readonly<Record<string, ParameterFacts>>;
  /**
   * The options of the operation, such as `page` and `sort`, without the fields that are hidden from the reader. The
   * features parse the parameters of a request by these options.
   */
  readonly options: ReaderOptions;
  readonly writes?: WriteRules | undefined;
  /**
   * The paths in the option `filter` of the operation. A filter of a client may name no other path. Without the option,
   * a filter may name every visible path.
   */
  readonly filterPaths?: ListedPaths | undefined;
  /**
   * Whether the filter `q` of the request does not apply to this level. `Framework.queryFor()` sets this property,
   * because `q` belongs to the model of the route and not to the model of the query.
   */
  readonly ignoresQ?: boolean;
  /**
   * The name of the field with the version of the document that contains the entities, for `ETag` and `If-Match`.
   * `undefined` if the document has no version.
   */
  readonly versionKey: string | undefined;
  readonly ifMatch?: RestRecord["ifMatch"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /**
   * The conditions of class options, such as a filter for deleted entities. They apply as scopes do. Unlike a scope,
   * they do not make options such as `caller` of `idempotency` required.
   */
  readonly conditions: readonly NonNullable<RestRecord["scope"]>[];
  /**
   * The name of the path parameter with the identifier of the entity, such as `id`. Missing if the path has no
   * identifier, because the parent holds only one entity.
   */
  readonly parameter?: string;
  readonly link?: PartLink;
}

export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  /**
   * The level of the operation `one()` in the same `@rest`. A repeated request with an idempotency key shows an entity
   * that an earlier request has created. The hooks of this level decide whether the reader may see that entity.
   */
  readonly reader?: Level | undefined;
  /**
   * The levels of the actions on one entity that the answer of `one()` names in `Link`. Missing for other operations, and
   * if no action of the `@rest` has the option `available`.
   */
  readonly actions?: readonly Level[] | undefined;
  readonly rights?: RouteRights | undefined;
  readonly maxTimeMS: number;
  /**
   * The time in which a client must read each chunk of an answer, in milliseconds. The connection of a slower client is
   * reset.
   */
  readonly sendTimeoutMS: number;
  readonly limits: FilterLimits;
  /** With `"listed"`, filters may name only the paths in the option `filter` of their operation. */
  readonly filterPaths?: "listed" | undefined;
  /** The parts of the option `strict` that are on, such as strict bodies. */
  readonly strict: StrictParts;
  /** The hook that runs before all others for each request, unless its level is open. */
  readonly guard?: PreFetch | undefined;
  /**
   * The writes that get a 503 while a unique index is not built yet, because they could store a duplicate. By default,
   * a write needs the indexes of the fields that it sets. With `"required"`, a write needs all unique indexes. With
   * `"lazy"`, only `replace()` by another field than `_id` needs them.
   */
  readonly indexes?: "required" | "lazy" | undefined;
  /** Whether clients can also send the parameters of a list in the body of a request with the method `QUERY`. */
  readonly queryMethod?: boolean | undefined;
  /** Returns the sender of a request. Missing if the application records no senders. */
  readonly actor?: ActorFunction | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
  /** All features that the options of operations can turn on in this router. */
  readonly features: FeatureList;
  /**
   * The settings of features that all routes of the router share, such as the limits of live lists, by the names of the
   * features.
   */
  readonly settings: ReadonlyMap<string, unknown>;
}

/**
 * Returns the name under which class options such as the history record a write at one level of a route. For a request
 * that adds a comment to a movie, the name is `comments.create` at the level of the movie, and `create` at the level of
 * the comment.
 */
export function operationAt(route: Route, index: number): string {
  const below = route.levels.slice(index + 1).map(({ link }) => link?.property);
  return [...below, actingLevel(route).operation].join(".");
}

export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}

/** Whether clients can read the list of a route by the method `QUERY`. */
export function takesQueryMethod(route: Route): boolean {
  return route.queryMethod === true && actingLevel(route).operation === "all";
}
