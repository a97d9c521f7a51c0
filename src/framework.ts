// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Request } from "express";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { closeServer } from "./http/close_server.ts";
import type { CloseOptions } from "./http/close_server.ts";
import { errors } from "./http/answer_error.ts";
import { health } from "./http/health.ts";
import type { Health } from "./http/health.ts";
import { describe, initialize } from "./http/initialize.ts";
import type { FrameworkRouter, InitializeOptions } from "./http/initialize.ts";
import { queryFor } from "./http/query_for.ts";
import type { QueryForOptions } from "./http/query_for.ts";
import type { ModelQuery } from "./declare/operations/action.ts";
import type { FrameworkModel, ModelClass } from "./declare/model/framework_model.ts";
import type { RouteDescription } from "./http/routes/describe_route.ts";

/**
 * The functions that an application calls: to mount routes, to describe them, to answer errors, and to close its server.
 *
 * @example Mount all routes
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
   * Creates an Express router with the routes of all models with `@rest`, or of the models in `options.models`. Mount it
   * after a JSON body parser. You can mount it at any path, and several times. It compares paths by the settings `case
   * sensitive routing` and `strict routing` of the application.
   *
   * @param options Options of the router.
   * @returns The router.
   * @throws {TypeError} If a declaration or an option is wrong. The message names the class and the property.
   * @throws {RangeError} If a limit is not a positive integer.
   */
  readonly initialize: (options?: InitializeOptions) => FrameworkRouter;
  /**
   * Describes the routes that `initialize()` mounts with the same options. The description of a route has its method,
   * path, operation, model, parameters and hooks, and the fields of its body and answer. Fields with `hidden: true` are
   * not among the fields of the answer. The method `describe()` of a router describes the routes of that router.
   *
   * @param options Options of the router.
   * @returns The descriptions, one for each route.
   * @throws {TypeError} If a declaration is wrong. The message names the class and the property.
   *
   * @example List the paths of an application
   * ```ts
   * import { all, Framework, FrameworkModel, one, prop, rest } from "@mongrove/mongrove";
   *
   * @rest({ route: "/books", methods: [all(), one()] })
   * class Book extends FrameworkModel {
   *   @prop({ required: true })
   *   title!: string;
   * }
   *
   * const routes = Framework.describe({ models: [Book] });
   * console.assert(routes.map(({ method, path }) => `${method} ${path}`).join() === "GET /books,GET /books/:id");
   * ```
   */
  readonly describe: (options?: InitializeOptions) => RouteDescription[];
  /**
   * Gives a route of your own what it needs to select entities as the routes of the model do: the conditions of `q`, with
   * the same checks, the `scope` of the model's `@rest`, and the model on the connection of the request. Hooks do not run.
   *
   * @typeParam M The model.
   * @param req The request.
   * @param target The model class.
   * @param options Limits on `q`, and the route whose `@rest` applies.
   * @returns The filter and the Mongoose model.
   * @throws {RestError} 400 if `q` is not allowed, or what the scope throws. `Framework.errors()` answers it.
   * @throws {TypeError} If the class has no such `@rest`, or several with different connections.
   *
   * @example Archive what `q` selects
   * ```ts
   * import express from "express";
   * import { Framework, FrameworkModel, prop, rest, update } from "@mongrove/mongrove";
   *
   * @rest({ route: "/tasks", methods: [update()] })
   * class Task extends FrameworkModel {
   *   @prop({ default: "open" })
   *   state!: string;
   * }
   *
   * const app = express();
   * app.post("/tasks/archive", async (req, res) => {
   *   const { filter, model } = await Framework.queryFor(req, Task);
   *   const { modifiedCount } = await model.updateMany(filter, { state: "archived" });
   *   res.json({ archived: modifiedCount });
   * });
   * ```
   */
  readonly queryFor: <M extends FrameworkModel>(
    req: Request,
    target: ModelClass<M>,
    options?: QueryForOptions,
  ) => Promise<ModelQuery<M>>;
  /**
   * Creates error middleware for errors outside the router, such as a body that is not JSON. It answers them in the form
   * in which the router answers its own errors. Mount it last. Without it, Express answers such errors.
   *
   * @returns The middleware.
   */
  readonly errors: () => ErrorRequestHandler;
  /**
   * Tells, within a second, whether requests can be served: whether the default connection and those that `getConnection`
   * has given are open and answer, and whether all unique indexes are built. It never throws.
   *
   * @returns How the application is, for a route of yours that probes ask.
   *
   * @example Answer the probes of an orchestrator
   * ```ts
   * import express from "express";
   * import { Framework } from "@mongrove/mongrove";
   *
   * const app = express();
   * app.get("/live", (_req, res) => res.json({ live: true }));
   * app.get("/ready", async (_req, res) => {
   *   const health = await Framework.health();
   *   res.status(health.ready ? 200 : 503).json(health);
   * });
   * ```
   */
  readonly health: () => Promise<Health>;
  /**
   * Closes the HTTP server of an application gracefully. The server accepts no new connections and completes its current
   * requests. `Connection: close` tells clients to open another connection. Idle connections are closed. Connections that
   * are still busy after `options.timeoutMS` milliseconds are cut. Close Mongoose afterwards.
   *
   * @param server The server.
   * @param options The time limit.
   * @returns A promise that resolves when the server is closed.
   * @throws {RangeError} If `timeoutMS` is not a valid number of milliseconds.
   * @throws {TypeError} If there is no such option.
   *
   * @example Close the server on SIGTERM
   * ```ts ignore
   * const server = app.listen(3000);
   * process.once("SIGTERM", () => Framework.close(server).then(() => mongoose.disconnect()));
   * ```
   */
  readonly close: (server: HttpServer | HttpsServer, options?: CloseOptions) => Promise<void>;
} = { initialize, describe, queryFor, errors, health, close: closeServer };
