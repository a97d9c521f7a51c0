import type { FrameworkRequest } from "../../declare/hooks/framework_request.ts";
import type { Hooks } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import type { RestRecord } from "../../declare/model/records.ts";
import type { ActionRecord } from "../../declare/operations/action.ts";
import type { Operation } from "../../declare/operations/operation.ts";
import type { ReadRules } from "../../filter/parameters/read_rules.ts";
import type { ListedPaths } from "../../filter/q/resolve_path.ts";
import type { FilterLimits, QueryLimits } from "../../filter/q/limits.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import type { Rights } from "../../schema/fields/rights.ts";
import type { Shape } from "../../schema/fields/shape.ts";
import type { BodyLimits } from "../../write/body/read_body.ts";
import type { LiveLimits } from "../live/live_limits.ts";
import type { RouteRights } from "./reader_rights.ts";
import type { Reporter } from "./reporter.ts";

export interface WriteRules {
  /** The most entities that the body of a creation may have; `undefined` where it has one. */
  readonly many?: number | undefined;
  readonly atomic: boolean;
  /** Whether a body may have an entity on each line, any number of them. */
  readonly takesLines?: boolean;
  /** The fields that a change of many entities may set. */
  readonly fields?: ReadonlySet<string>;
  /** The most entities that a request may change or remove. */
  readonly max?: number | undefined;
  /** Whether a request has to say what it selects. */
  readonly needsQ: boolean;
  /** The field by which the path of a replacement names an entity. */
  readonly by?: string;
  readonly isRead?: boolean;
  readonly idempotency?: {
    readonly keepMS: number;
    readonly isRequired: boolean;
    readonly by?: ((req: FrameworkRequest) => string) | undefined;
  };
}

/** One level of a route. The last one acts, those before it are read. */
export interface Level {
  readonly target: ModelClass;
  readonly shape: Shape;
  /** The operation at this level, or the action: `one` for all but the last. */
  readonly operation: string;
  readonly kind: Operation;
  readonly action?: ActionRecord;
  /** The rights of its reader on any class; missing where no function tells. */
  readonly rights?: Rights;
  readonly hooks: Hooks<object>;
  readonly parameters: readonly string[];
  readonly reads?: ReadRules | undefined;
  readonly writes?: WriteRules | undefined;
  /** The paths that filters of clients may name; any that is shown if there are none. */
  readonly filterPaths?: ListedPaths | undefined;
  /** Whether the URL parameter `q` is not for its entities. */
  readonly ignoresQ?: boolean;
  /** The field with the version of the document that holds its entities; `undefined` if there is none. */
  readonly versionKey: string | undefined;
  readonly concurrency?: RestRecord["concurrency"];
  readonly scopes: readonly NonNullable<RestRecord["scope"]>[];
  /** The parameter of the path that names its entity; there is none where the parent holds only one. */
  readonly parameter?: string;
  readonly link?: PartLink;
}

export interface Route {
  readonly path: string;
  readonly operation: Operation;
  readonly levels: readonly Level[];
  readonly getConnection?: RestRecord["getConnection"];
  /** The level of `one()` beside a creation: its hooks say who may see what the creation has made. */
  readonly reader?: Level | undefined;
  readonly rights?: RouteRights | undefined;
  readonly maxTimeMS: number;
  /** The time that a client has for each piece of an answer. */
  readonly sendTimeoutMS: number;
  readonly limits: FilterLimits;
  /** Whether filters name only what their operation lists. */
  readonly filterPaths?: QueryLimits["paths"];
  /** Whether every operation refuses parameters that nothing declares. */
  readonly parameters?: "strict" | undefined;
  /** Which writes wait for unique indexes; those of their fields if nothing is said. */
  readonly indexes?: "required" | "lazy" | undefined;
  readonly reporter: Reporter;
  readonly bodyLimits: Required<BodyLimits>;
  readonly live: Required<LiveLimits>;
}

export function actingLevel({ levels }: Route): Level {
  return levels[levels.length - 1] as Level;
}
