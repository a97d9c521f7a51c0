import type { Request, RequestHandler } from "express-types";
import type { Route } from "./request/route.ts";

/**
 * The code of an option of `Framework.initialize()`, such as `batch`, that adds an endpoint to the router. The endpoint
 * belongs to no model.
 *
 * @typeParam S The type of the checked option.
 */
export interface RouterFeature<S = unknown> {
  readonly name: string;
  check(given: unknown): S;
  /**
   * Returns the endpoint that the option adds, such as `POST /batch`, when a router is mounted. Throws an error if the
   * routes or their database cannot serve it, such as a database without transactions for batches.
   */
  endpoint(settings: S, routes: readonly Route[]): Endpoint;
}

/**
 * An endpoint of a router that belongs to no model, such as the endpoint for batches. It has a path, a description and
 * the function that answers requests.
 */
export interface Endpoint {
  readonly method: "post";
  /** The path of the endpoint below the router, such as `/batch`. Path parameters such as `:id` are not allowed. */
  readonly path: string;
  readonly description: EndpointDescription;
  /**
   * Returns the JSON text of the answer to a request. `routes` is the handler of the routes of models, by which the
   * endpoint can send requests to them.
   */
  serve(req: Request, routes: RequestHandler): Promise<string>;
}

/** The summary, the description and the JSON schemas of an endpoint, for the OpenAPI document. */
export interface EndpointDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly body: object;
  /** The answers, by status. */
  readonly answers: Readonly<
    Record<string, { readonly description: string; readonly schema: object }>
  >;
}

/**
 * Returns the endpoints, such as `POST /batch`, that the options of `Framework.initialize()` add to a router. Throws if
 * the path of an endpoint is the path of a route.
 */
export function endpointsFor(
  features: readonly RouterFeature[],
  { options, routes }: {
    readonly options: Readonly<Record<string, unknown>>;
    readonly routes: readonly Route[];
  },
): Endpoint[] {
  return features.filter(({ name }) => options[name] !== undefined).map((feature) => {
    const endpoint = feature.endpoint(feature.check(options[feature.name]), routes);
    const { path } = endpoint;
    if (typeof path !== "string" || !PATH.test(path)) {
      throw new TypeError(`Cannot initialize: "${feature.name}.path" is no path such as "/name"`);
    }
    if (routes.some((route) => route.path === path)) {
      throw new TypeError(
        `Cannot initialize: "${feature.name}.path" is the path of a route, ${path}`,
      );
    }
    return endpoint;
  });
}

/**
 * A path without parameters and without wildcards of Express, such as `/batch`. Any other path is refused, because the
 * endpoint could get requests to routes of models.
 */
const PATH = /^(?:\/[\w.~-]+)+$/;
