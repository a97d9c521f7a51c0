import type { Request, RequestHandler } from "express-types";
import type { PluginRoute } from "../declare/plugins/plugin.ts";
import type { ParameterFacts } from "./description.ts";
import type { TextAnswer } from "./request/answer.ts";
import type { Route } from "./request/route.ts";

/** An option of `Framework.initialize()` that adds an endpoint without a model. */
export interface RouterFeature<S = unknown> {
  readonly name: string;
  check(given: unknown): S;
  endpoint(settings: S, routes: readonly Route[]): Endpoint;
}

export interface Endpoint {
  readonly method: "get" | "post" | "put" | "patch" | "delete";
  readonly path: string;
  readonly description: EndpointDescription;
  /** Missing for an option of the framework. */
  readonly plugin?: string;
  readonly route?: PluginRoute;
  serve(req: Request, routes: RequestHandler): Promise<TextAnswer>;
}

export interface EndpointDescription {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  /** The heading in the OpenAPI document, by default `operationId`. */
  readonly tag?: string;
  readonly isOpen?: boolean;
  readonly isGuarded?: boolean;
  readonly deprecated?: boolean;
  readonly parameters?: Readonly<Record<string, ParameterFacts>>;
  readonly body?: object;
  readonly answers: Readonly<
    Record<string, { readonly description: string; readonly schema?: object }>
  >;
}

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

/** With parameters or wildcards, the endpoint could get requests to routes of models. */
const PATH = /^(?:\/[\w.~-]+)+$/;
