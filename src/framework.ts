// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Router } from "express";
import { errors } from "./http/error_middleware.ts";
import { initialize } from "./http/initialize.ts";
import type { InitializeOptions } from "./http/initialize.ts";

/**
 * The entry of an application: routes, and the error form for what is outside them.
 *
 * @example An application
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({ route: "/todos", methods: [all()] })
 * class Todo extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * app.use(Framework.initialize({ models: [Todo] }));
 * app.use(Framework.errors());
 * ```
 */
export const Framework: {
  /**
   * Gives the router with the routes of all registered models, or of those that are named. It may be mounted anywhere,
   * after a JSON body parser, and more than once.
   *
   * @throws {TypeError} If a declaration is wrong; the message names the class and the property.
   * @throws {RangeError} If `maxTimeMS` or a cap on `q` is no positive integer.
   */
  readonly initialize: (options?: InitializeOptions) => Router;
  /**
   * Gives the error middleware for what goes wrong outside the router, such as a body that is no JSON. Mounted last;
   * without it such errors are answered in the host's own form.
   */
  readonly errors: () => ErrorRequestHandler;
} = { initialize, errors };
