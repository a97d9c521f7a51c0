import type { BodyLimits } from "../../write/body/limits.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { Reporter } from "./reporter.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/model_class.ts";
import type { Operation, OperationName } from "../../declare/operations/operation.ts";
import type { QueryLimits } from "../../filter/q/limits.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Shape } from "../../schema/fields/shape.ts";

/** One level of a route: a model, and what guards it. The last level acts, those before it are read. */
export interface Level {
  /** The model. */
  readonly target: ModelClass;
  /** The shape of its schema. */
  readonly shape: Shape;
  /** The operation at this level: `one` for all but the last. */
  readonly operation: OperationName;
  /** Its hooks. */
  readonly hooks: Hooks<object>;
  /** The scopes that bind it. */
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /** The parameter of the path that names its entity; there is none where the parent holds only one. */
  readonly parameter?: string;
  /** How the level before it holds it; the first level is held by none. */
  readonly part?: PartLink;
}

/** A route: everything that is known of it before a request comes. */
export interface Route {
  /** Its path under the mount. */
  readonly path: string;
  /** The operation, as data. */
  readonly operation: Operation;
  /** Its levels, outermost first. */
  readonly levels: readonly [Level, ...Level[]];
  /** Supplies the connection of a request. */
  readonly getConnection?: RestRecord["getConnection"];
  /** The time that the database may take. */
  readonly maxTimeMS: number;
  /** The caps on `q`. */
  readonly limits: Required<QueryLimits>;
  /** Whether writes wait for unique indexes. */
  readonly indexes?: "required" | undefined;
  /** Tells the host what went wrong. */
  readonly reporter: Reporter;
  /** The caps on bodies. */
  readonly bodyLimits: Required<BodyLimits>;
}

/** Gives the level that acts. */
export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}
