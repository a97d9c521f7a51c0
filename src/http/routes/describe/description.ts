import type { HookName } from "../../../declare/hooks/hooks.ts";
import type { OperationWords } from "../../../declare/operations/operation.ts";
import type { FieldDescription } from "../../../schema/describe/describe_fields.ts";
import type { FilterDescription } from "../../../filter/q/describe_filter.ts";

/** A parameter of a request. */
export interface ParameterDescription {
  /** The name. */
  readonly name: string;
  /** Whether it is part of the path or of the query string. */
  readonly in: "path" | "query";
  /** Whether a request must have it. */
  readonly required: boolean;
  /** The fields that it can name, for `sort`, `select` and `populate`. */
  readonly fields?: readonly string[];
  /** The value that it has if it is not given, for `limit`. */
  readonly default?: number;
  /** The greatest value, for `limit`. */
  readonly maximum?: number;
}

/** A header of a request that changes what the operation does. */
export interface HeaderDescription {
  /** The name. */
  readonly name: "If-Match" | "If-None-Match" | "Prefer";
  /** Whether a request must have it. */
  readonly required: boolean;
}

/** An answer that is an error. */
export interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** The codes of the framework with this status. Hooks can use the status with other codes. */
  readonly codes: readonly string[];
}

/** A route, as data. */
export interface RouteDescription extends OperationWords {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path of the route in the router, such as `/movies/:id`. */
  readonly path: string;
  /** The name of the operation, or of the action. */
  readonly operation: string;
  /** The name of the model class. */
  readonly model: string;
  /** The parameters of the path and of the query string. */
  readonly parameters: readonly ParameterDescription[];
  /** The headers that the operation reads. */
  readonly headers: readonly HeaderDescription[];
  /** The paths and operators that `q` may hold. Missing if the operation has no `q`. */
  readonly filter?: FilterDescription;
  /** The fields that a body can set. Missing if the operation reads no body. */
  readonly body?: readonly FieldDescription[];
  /** The fields of each entity in the answer. Empty if the answer has no body. */
  readonly answer: readonly FieldDescription[];
  /** The HTTP status of success. */
  readonly status: number;
  /** The errors that the framework can answer. Hooks, and what stands before the router, can answer others. */
  readonly errors: readonly ErrorDescription[];
  /** The names of the hooks that the operation declares. */
  readonly hooks: readonly HookName[];
}
