// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Router } from "express";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { closeServer } from "./http/close_server.ts";
import type { CloseOptions } from "./http/close_server.ts";
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
  /**
   * Closes the HTTP server of an application in order. It takes no new connections, answers the requests that are under
   * way, tells clients with `Connection: close` to come back on another connection, and ends connections as soon as they
   * are idle. What is still busy after `within` milliseconds (10,000) is cut. Close Mongoose afterwards.
   *
   * @example On SIGTERM
   * ```ts ignore
   * const server = app.listen(3000);
   * process.once("SIGTERM", () => Framework.close(server).then(() => mongoose.disconnect()));
   * ```
   *
   * @throws {RangeError} If `within` is no number of milliseconds.
   */
  readonly close: (server: HttpServer | HttpsServer, options?: CloseOptions) => Promise<void>;
} = { initialize, errors, close: closeServer };
