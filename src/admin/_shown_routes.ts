import { basePath } from "../describe/base_path.ts";
import { describeRoute, type RouteDescription } from "../describe/describe_route.ts";
import { pathParameters } from "../describe/paths.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";

/** A route that the admin page may show, and its place in the JSON document of the page. */
export interface ShownRoute {
  readonly route: Route;
  /** The description of the route for the option `see`. */
  readonly description: RouteDescription;
  /** The path of the list of the model, such as `/tickets`. */
  readonly base: string;
  readonly kind: "operation" | "added" | "action";
  /** The property whose entities the route serves. Missing for a route of the model itself. */
  readonly property?: string;
}

/**
 * Returns the routes that the admin page can show. The page fills no parameters except identifiers, so it shows no
 * lists whose path has parameters. It shows no parts of parts.
 */
export function shownRoutes(routes: readonly Route[]): ShownRoute[] {
  return routes.flatMap((route): ShownRoute[] => {
    const { action, perform, link } = actingLevel(route);
    const own = basePath(route);
    const base = link === undefined ? own : own.replace(/\/:[^/]+\/[^/:]+$/, "");
    const isPlain = pathParameters(base).length === 0 && !/[*{}\\]/.test(base) && base !== "/";
    if (!isPlain || route.levels.length > 2) return [];
    const kind = perform !== undefined ? "added" : action !== undefined ? "action" : "operation";
    if (link === undefined) {
      return [{ route, description: describeRoute(route), base, kind }];
    }
    if (kind !== "operation" || !link.array) return [];
    const property = own.slice(own.lastIndexOf("/") + 1);
    const description = describeRoute(route);
    return [{ route, description, base, kind, property }];
  });
}
