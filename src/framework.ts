// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Request } from "express";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { type CloseOptions, closeServer } from "./http/close_server.ts";
import { errors } from "./http/answer_error.ts";
import { type Health, health } from "./http/health.ts";
import { describe, initialize } from "./http/initialize.ts";
import type { FrameworkRouter, InitializeOptions } from "./http/initialize.ts";
import { queryFor, type QueryForOptions } from "./http/query_for.ts";
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
   * Creates an Express router with the routes of all models with `@rest`, or of those in `options.models`. Mount it after
   * a JSON body parser, at any path, several times if you like. It compares paths by the settings `case sensitive
   * routing` and `strict routing` of the application.
   *
   * @throws {TypeError} If a declaration or an option is wrong. The message names the class and the property.
   * @throws {RangeError} If a limit is not a positive integer.
   */
  readonly initialize: (options?: InitializeOptions) => FrameworkRouter;
  /**
   * Describes the routes that `initialize()` mounts with the same options. The method `describe()` of a router describes
   * the routes of that router.
   *
   * @throws {TypeError} If a declaration is wrong. The message names the class and the property.
   *
   * @example List the paths of an application
   * ```ts
   * import { all, Framework, FrameworkModel, one, rest } from "@mongrove/mongrove";
   *
   * @rest({ route: "/books", methods: [all(), one()] })
   * class Book extends FrameworkModel {}
   *
   * const routes = Framework.describe({ models: [Book] });
   * console.assert(routes.map(({ method, path }) => `${method} ${path}`).join() === "GET /books,GET /books/:id");
   * ```
   */
  readonly describe: (options?: InitializeOptions) => RouteDescription[];
  /**
   * Gives a route of your own what it needs to select entities as the routes of the model do: the conditions of `q`, with
   * the same checks, joined with the `scope` of the model's `@rest`, and the model on the connection of the request.
   * Hooks do not run.
   *
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
  /** Creates error middleware, to be mounted last: errors outside the router get the form of the router's own ones. */
  readonly errors: () => ErrorRequestHandler;
  /**
   * Tells, within a second, whether requests can be served: whether the default connection and those that `getConnection`
   * has given are open and answer, and whether all unique indexes are built. It never throws.
   *
   * @example Answer the probe of an orchestrator
   * ```ts
   * import express from "express";
   * import { Framework } from "@mongrove/mongrove";
   *
   * const app = express();
   * app.get("/ready", async (_req, res) => {
   *   const health = await Framework.health();
   *   res.status(health.ready ? 200 : 503).json(health);
   * });
   * ```
   */
  readonly health: () => Promise<Health>;
  /**
   * Closes the HTTP server of an application gracefully, and resolves when it is closed. The server accepts no new
   * connections, completes its current requests, and tells clients to open another connection (`Connection: close`).
   * Connections that are still busy after `options.timeoutMS` milliseconds are cut. Close Mongoose afterwards.
   *
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
