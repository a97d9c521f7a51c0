// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Request, RequestHandler } from "express";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { type CloseOptions, closeServer } from "../http/close_server.ts";
import { errors, type ErrorsOptions } from "../http/answer_error.ts";
import { tellCircularImports } from "./circular_imports.ts";
import { type Health, health } from "./health.ts";
import { housekeeper, type Tidied, type TidyOptions } from "./housekeeper.ts";
import { describe, initialize } from "./initialize.ts";
import type { FrameworkRouter, InitializeOptions } from "./initialize.ts";
import { queryFor, type QueryForOptions } from "./query_for.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import type { RouteDescription } from "../describe/describe_route.ts";

tellCircularImports();

/**
 * The functions with which an application mounts routes, describes routes, answers errors, reports its health, and
 * closes its server.
 *
 * @example Mount all routes
 * ```ts
 * import express from "express";
 * import { all, Framework, FrameworkModel, prop, rest } from "@mongrove/mongrove";
 *
 * @rest({ route: "/todos", open: true, methods: [all({ page: { max: 50 } })] })
 * class Todo extends FrameworkModel {
 *   @prop({ required: true })
 *   text!: string;
 * }
 *
 * const app = express();
 * app.use(express.json());
 * app.use(Framework.initialize({ models: [Todo], strict: true }));
 * app.use(Framework.errors());
 * ```
 */
export const Framework: {
  /**
   * Returns an Express router with the routes of all models with `@rest`, or of the models in `options.models`. Mount
   * the router after a JSON body parser, because the router does not parse bodies.
   *
   * The router compares paths by the settings `case sensitive routing` and `strict routing` of the application, so that
   * a guard of the application matches the same paths.
   *
   * @throws {TypeError} If a declaration or an option is wrong. The message names the class and the property. Several
   * wrong declarations are one error, with a line for each.
   * @throws {RangeError} If a limit is not a positive integer.
   */
  readonly initialize: (options?: InitializeOptions) => FrameworkRouter;
  /**
   * Returns descriptions of the routes that `initialize()` mounts with the same options, with who may use each of them
   * (`access`). For a router that exists already, call its method `describe()` instead.
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
   * Returns a filter and a Mongoose model, so that a route of the application selects the same entities as the routes
   * of the model. Neither the `guard` nor hooks run, so the route must check the rights of the caller itself.
   *
   * The filter joins the parameter `q` of the request with the `scope` of the model's `@rest`. The Mongoose model uses
   * the connection of the request.
   *
   * @throws {RestError} 400 if `q` is not allowed. An error of the `scope` is thrown unchanged. `Framework.errors()`
   * answers both.
   * @throws {TypeError} If the class has no matching `@rest`, or several with different connections.
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
   * Returns error middleware, which answers errors of other middleware and routes in the form of the router's errors.
   * Mount the middleware last, because Express passes an error only to later middleware. With `notFound: true`, the
   * middleware also answers 404 to requests that no route took.
   *
   * @throws {TypeError} If `options` has an unknown property.
   */
  readonly errors: {
    (options?: ErrorsOptions & { readonly notFound?: false }): ErrorRequestHandler;
    (options: ErrorsOptions & { readonly notFound: true }): [RequestHandler, ErrorRequestHandler];
  };
  /**
   * Checks within a second whether requests can be served. The promise never rejects. The application is ready if no
   * server is closing, all connections that models use are open and answer, and all unique indexes are built.
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
   * Removes the expired entities of the classes of all mounted routers once. Entities are removed for good, as by a
   * request, with a record in the history whose operation is `tidy`. Hooks do not run. The option `tidy` of
   * `initialize()` removes expired entities at intervals, so a call is needed only with `tidy: false` and in tests.
   *
   * The call waits while another process removes expired entities of the same database. On routes with `getConnection`,
   * it uses the connections that requests of this process have used, and `connections`.
   *
   * @throws {TypeError} If `options` is wrong.
   * @throws {Error} If a connection is not open, or if entities of a class cannot be removed. The entities of other
   * classes are removed.
   *
   * @example Remove the entities that will have expired in 30 days
   * ```ts ignore
   * const { removed } = await Framework.tidy({ at: new Date(Date.now() + 30 * 24 * 60 * 60 * 1000) });
   * console.assert(removed.Book === 3);
   * ```
   */
  readonly tidy: (options?: TidyOptions) => Promise<Tidied>;
  /**
   * Closes the HTTP server of an application gracefully. The server accepts no new connections, completes its current
   * requests, and answers them with `Connection: close`. Connections that are busy after `options.timeoutMS`
   * milliseconds are cut.
   *
   * Close Mongoose after the promise has resolved, because current requests need the database. The removal of expired
   * entities at intervals ends until another router is mounted.
   *
   * @throws {RangeError} If `timeoutMS` is not a valid number of milliseconds.
   * @throws {TypeError} If `options` has an unknown property.
   *
   * @example Close the server on SIGTERM
   * ```ts ignore
   * const server = app.listen(3000);
   * process.once("SIGTERM", () => Framework.close(server).then(() => mongoose.disconnect()));
   * ```
   */
  readonly close: (server: HttpServer | HttpsServer, options?: CloseOptions) => Promise<void>;
} = {
  initialize,
  describe,
  queryFor,
  errors,
  health,
  tidy: (options) => housekeeper.tidy(options),
  close: closeServer,
};
