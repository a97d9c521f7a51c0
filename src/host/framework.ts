// @ts-types="npm:@types/express@^5"
import type { ErrorRequestHandler, Request, RequestHandler } from "express";
import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { type CloseOptions, closeServer } from "../http/close_server.ts";
import { errors, type ErrorsOptions } from "../http/answer_error.ts";
import { explainCircularImports } from "./circular_imports.ts";
import { type Health, health } from "./health.ts";
import { housekeeper, type Tidied, type TidyOptions } from "./housekeeper.ts";
import { describe, initialize } from "./initialize.ts";
import type { FrameworkRouter, InitializeOptions } from "./initialize.ts";
import { queryFor, type QueryForOptions } from "./query_for.ts";
import type { ModelQuery } from "../declare/operations/action.ts";
import type { FrameworkModel, ModelClass } from "../declare/model/framework_model.ts";
import type { RouteDescription } from "../describe/describe_route.ts";

explainCircularImports();

/**
 * Mounts and describes routes, answers errors, reports the health, and closes the server.
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
   * Returns an Express router with the routes of all models with `@rest`, or of `options.models`. Mount it after a JSON
   * body parser.
   *
   * The router compares paths by the settings `case sensitive routing` and `strict routing` of the application, so that
   * its guards match the same paths.
   *
   * @throws {TypeError} If a declaration or an option is wrong. Several wrong declarations are one error.
   * @throws {RangeError} If a limit is not a positive integer.
   */
  readonly initialize: (options?: InitializeOptions) => FrameworkRouter;
  /**
   * Describes the routes that `initialize()` mounts with the same options, and who may use them (`access`). A router
   * that exists has its own `describe()`.
   *
   * @throws {TypeError} If a declaration is wrong.
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
   * of the model: by `q`, by the `scope`, and on the connection of the request. Neither the `guard` nor hooks run, a
   * lean query shows hidden fields, and an update can set read-only fields. So the route must check the rights of the
   * caller itself.
   *
   * @throws {RestError} 400 if `q` is not allowed. An error of the `scope` is thrown unchanged.
   * @throws {TypeError} If the class has no matching `@rest`, or several with different connections.
   */
  readonly queryFor: <M extends FrameworkModel>(
    req: Request,
    target: ModelClass<M>,
    options?: QueryForOptions,
  ) => Promise<ModelQuery<M>>;
  /**
   * Returns error middleware, which answers errors of other middleware and routes as the router does. Mount it last,
   * because Express passes an error only to later middleware. With `notFound: true`, it also answers 404 to requests
   * that no route took.
   *
   * @throws {TypeError} If `options` has an unknown property.
   */
  readonly errors: {
    (options?: ErrorsOptions & { readonly notFound?: false }): ErrorRequestHandler;
    (options: ErrorsOptions & { readonly notFound: true }): [RequestHandler, ErrorRequestHandler];
  };
  /** Checks within a second whether requests can be served. The promise never rejects. */
  readonly health: () => Promise<Health>;
  /**
   * Removes the expired entities of all mounted routers for good, with records of the operation `tidy` in the history.
   * Hooks do not run. The option `tidy` of `initialize()` does the same at intervals.
   *
   * The call waits while another process removes expired entities of the database. On routes with `getConnection`, it
   * uses the connections that requests of this process have used, and `connections`.
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
   * Closes an HTTP server gracefully. The server accepts no new connections, and completes its current requests with
   * `Connection: close`. Connections that are busy after `options.timeoutMS` milliseconds are cut.
   *
   * Close Mongoose only when the promise has resolved, because current requests need the database. Within the same
   * time, the work of `@mongrove/mongrove/work` ends, and so does the removal of expired entities until another router
   * is mounted.
   *
   * @throws {RangeError} If `timeoutMS` is not a valid number of milliseconds.
   * @throws {TypeError} If `options` has an unknown property.
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
