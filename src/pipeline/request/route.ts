import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { ActionRecord } from "../../declare/operations/action.ts";
import type { Operation } from "../../declare/operations/operation.ts";
import type { ReadRules } from "../../filter/parameters/read_rules.ts";
import type { QueryLimits } from "../../filter/q/limits.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { BodyLimits } from "../../write/body/read_body.ts";
import type { Reporter } from "./reporter.ts";

/** One level of a route. The last one acts, those before it are read. */
export interface Level {
  readonly target: ModelClass;
  readonly shape: Shape;
  /** The operation at this level, or the action: `one` for all but the last. */
  readonly operation: string;
  readonly kind: Operation;
  readonly action?: ActionRecord;
  readonly hooks: Hooks<object>;
  readonly parameters: readonly string[];
  /** The parameters of a list besides `q`. */
  readonly reads?: ReadRules | undefined;
  /** The field with the version of the document that holds its entities; `undefined` if there is none. */
  readonly versionKey: string | undefined;
  /** Whether a write must say which version it changes. */
  readonly concurrency?: RestRecord["concurrency"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /** The parameter of the path that names its entity; there is none where the parent holds only one. */
  readonly parameter?: string;
  /** How the level above holds it; `undefined` for the first one. */
  readonly link?: PartLink;
}

/** All that is known of a route before a request comes. */
export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  readonly maxTimeMS: number;
  /** The time that a client has for each piece of an answer. */
  readonly sendTimeoutMS: number;
  readonly limits: Required<QueryLimits>;
  /** Whether every operation refuses parameters that nothing declares. */
  readonly parameters?: "strict" | undefined;
  /** Whether writes wait for unique indexes. */
  readonly indexes?: "required" | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
}

export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}
