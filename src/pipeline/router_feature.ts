import type { Request, RequestHandler } from "express-types";
import type { Route } from "./request/route.ts";

/**
 * The code of an option of `Framework.initialize()` that adds an endpoint to the router, which belongs to no model.
 *
 * @typeParam S The type of the checked option.
 */
export interface RouterFeature<S = unknown> {
  /** The name of the option. */
  readonly name: string;
  /** Reads and checks the option at start-up. Throws an error if the option is wrong. */
  check(given: unknown): S;
  /** Returns the endpoint. Throws an error if the endpoint cannot work with the routes or their database. */
  endpoint(settings: S, routes: readonly Route[]): Endpoint;
}

/**
 * An endpoint of a router that belongs to no model, such as the path for batches. It has a path, a description and the
 * function that answers requests.
 */
export interface Endpoint {
  readonly method: "post";
  /** The path below the router, without parameters. */
  readonly path: string;
  /** The description of the endpoint for the OpenAPI document. */
  readonly description: EndpointDescription;
  /**
   * Returns the JSON of the answer to a request. Throws an error that becomes the answer.
   *
   * @param routes The handler of the routes of models, by which the endpoint can send requests to them.
   */
  serve(req: Request, routes: RequestHandler): Promise<string>;
}

/** The words and the JSON schemas of an endpoint, for the OpenAPI document. */
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

/** Returns the endpoints that the options of `Framework.initialize()` add to a router. */
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

/** The paths without parameters and patterns of Express. */
const PATH = /^(?:\/[\w.~-]+)+$/;
