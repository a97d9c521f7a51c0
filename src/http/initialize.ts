// @ts-types="npm:@types/express@^5"
import express from "express";
import type { ErrorRequestHandler, Router } from "express-types";
import { registeredModels } from "../declare/model/registry.ts";
import type { ErrorContext } from "../pipeline/request/error_context.ts";
import { notFound } from "../errors/refusals.ts";
import { Reporter } from "../pipeline/request/reporter.ts";
import type { ModelClass } from "../declare/model/model_class.ts";
import type { FrameworkRequest } from "../declare/hooks/framework_request.ts";
import { completeLimits } from "../filter/q/limits.ts";
import type { QueryLimits } from "../filter/q/limits.ts";
import { completeBodyLimits } from "../write/body/limits.ts";
import type { BodyLimits } from "../write/body/limits.ts";
import { sendError } from "./answer_error.ts";
import { buildRoutes } from "./routes/build_routes.ts";
import { handleRoute } from "./handle_route.ts";
import { mountRoutes } from "./routes/mount_routes.ts";

/**
 * The options of `Framework.initialize()`.
 *
 * @example Limits, and an answer for an error of your own
 * ```ts
 * import { type InitializeOptions, RestError } from "@mongrove/mongrove";
 *
 * const options: InitializeOptions = {
 *   maxTimeMS: 2000,
 *   onError: (_req, error) => error instanceof SyntaxError ? new RestError(502, "Bad answer") : undefined,
 *   query: { maxDepth: 5, maxClauses: 20 },
 * };
 * ```
 */
export interface InitializeOptions {
  /** The models to mount. @default {every model that has been imported} */
  readonly models?: readonly ModelClass[];
  /**
   * Gets the error behind every 5xx, and where it happened; may give a `RestError`, which answers an unexpected error.
   * Without that the error is logged. While the database is away, one cause is told at once and then once a minute,
   * with the `count` of further failures.
   */
  readonly onError?: (req: FrameworkRequest, error: unknown, context: ErrorContext) => unknown;
  /** The milliseconds that the database may take for one operation. @default {10000} */
  readonly maxTimeMS?: number;
  /**
   * `"required"` answers writes with 503 until all unique indexes of their models stand, so that no two entities get the
   * same unique value while an index is missing.
   *
   * @default {undefined, writes do not wait for indexes}
   */
  readonly indexes?: "required";
  /** The caps on `q`. */
  readonly query?: QueryLimits;
  /** The caps on bodies. */
  readonly body?: BodyLimits;
}

/**
 * Creates the routes of all registered models.
 *
 * @throws {TypeError} If a declaration is wrong; the message names the class and the property.
 */
export function initialize(options: InitializeOptions = {}): Router {
  const { models = registeredModels(), onError, maxTimeMS = 10_000 } = options;
  const { query, body, indexes } = options;
  if (!Number.isInteger(maxTimeMS) || maxTimeMS <= 0) {
    throw new RangeError(`Cannot initialize: maxTimeMS is ${maxTimeMS}, not a positive integer`);
  }
  if (indexes !== undefined && indexes !== "required") {
    throw new TypeError(
      `Cannot initialize: "indexes" is ${JSON.stringify(indexes)}, not "required"`,
    );
  }
  const router = express.Router({ mergeParams: true });
  const routes = buildRoutes(models, {
    maxTimeMS,
    limits: completeLimits(query),
    bodyLimits: completeBodyLimits(body),
    indexes,
    reporter: new Reporter(onError),
  });
  mountRoutes(router, routes, handleRoute);
  router.use(answerUndecodable);
  return router;
}

/** An identifier that cannot be decoded, such as `%ff`, is none; the router tells so before any handler runs. */
const answerUndecodable: ErrorRequestHandler = (error, _req, res, next) => {
  if (error instanceof URIError) sendError(res, notFound());
  else next(error);
};
