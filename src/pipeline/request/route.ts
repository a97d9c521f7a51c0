import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { ActionRecord } from "../../declare/operations/action.ts";
import type { Operation } from "../../declare/operations/operation.ts";
import type { ListedPaths } from "../../filter/q/resolve_path.ts";
import type { FilterLimits, QueryLimits } from "../../filter/q/limits.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Rights } from "../../schema/fields/rights.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { BodyLimits } from "../../write/body/read_body.ts";
import type { FeatureList } from "../feature_list.ts";
import type { ReaderOptions } from "../reader_options.ts";
import type { RouteRights } from "./reader_rights.ts";
import type { Reporter } from "./reporter.ts";

/** The options of `updateAll()`, `removeAll()` and `replace()`. */
export interface WriteRules {
  readonly atomic: boolean;
  /** The fields that a change of many entities may set. */
  readonly fields?: ReadonlySet<string>;
  /** The most entities that a request may change or remove. */
  readonly max?: number | undefined;
  /** Whether a request needs `q` to select entities, so that a forgotten `q` does not select all of them. */
  readonly needsQ: boolean;
  /** The field whose value names an entity in the path of a replacement. */
  readonly by?: string;
  readonly isRead?: boolean;
}

/**
 * A segment of a route with its class and hooks. The last level runs the operation. The levels above it are read first,
 * so that a hidden parent hides its parts.
 */
export interface Level {
  readonly target: ModelClass;
  readonly shape: Shape;
  /**
   * The name of the operation or the action at this level. All levels but the last have `one`, because one entity of
   * each is read.
   */
  readonly operation: string;
  readonly kind: Operation;
  readonly action?: ActionRecord;
  /**
   * The rights of the reader, from the functions in the options `hidden` and `readonly`. `undefined` before the reader
   * is known, and if no field of the route has such a function.
   */
  readonly rights?: Rights;
  readonly hooks: Hooks<object>;
  readonly parameters: readonly string[];
  /** The features of the operation, for the reader of the level. */
  readonly options: ReaderOptions;
  readonly writes?: WriteRules | undefined;
  /** The paths that filters of clients may name. Without this list, filters may name every visible path. */
  readonly filterPaths?: ListedPaths | undefined;
  /**
   * Whether the URL parameter `q` does not select entities of this level. Only `Framework.queryFor()` sets this
   * property, for requests whose `q` is for another model.
   */
  readonly ignoresQ?: boolean;
  /**
   * The field with the version of the document that contains the entities. `undefined` if the document has no version.
   */
  readonly versionKey: string | undefined;
  readonly concurrency?: RestRecord["concurrency"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /** The path parameter that names the entity. `undefined` if the parent holds only one entity. */
  readonly parameter?: string;
  readonly link?: PartLink;
}

export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  /**
   * The level of the operation `one()` in the `@rest` of this route. The hooks of this level decide whether a reader may
   * see an entity that an earlier request has created.
   */
  readonly reader?: Level | undefined;
  readonly rights?: RouteRights | undefined;
  readonly maxTimeMS: number;
  /**
   * The time in which a client must read each piece of an answer, in milliseconds. The connection of a slower client is
   * reset.
   */
  readonly sendTimeoutMS: number;
  readonly limits: FilterLimits;
  /** Whether filters may name only the paths that their operation lists. */
  readonly filterPaths?: QueryLimits["paths"];
  /** Whether every operation answers 400 to parameters that no option of the route declares. */
  readonly parameters?: "strict" | undefined;
  /** Whether bodies with unknown keys, keys that the caller cannot set, or values of other types are refused. */
  readonly bodies?: "strict" | undefined;
  /**
   * The writes that wait for unique indexes. By default, a write waits for the unique indexes of the fields that it
   * sets, so that it stores no duplicate.
   */
  readonly indexes?: "required" | "lazy" | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
  /** The features that the router knows. */
  readonly features: FeatureList;
  /** The settings of features for all routes of the router, by the names of the features. */
  readonly settings: ReadonlyMap<string, unknown>;
}

export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}
