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
  readonly kind: "operation" | "added" | "action" | "file";
  /**
   * The name of the entities that the route serves in its path, which is the name of their property unless `@rest` of
   * the property has another route. Missing for a route of the model itself.
   */
  readonly part?: string;
  /** The name of the file that the route serves in its path. Missing for a route that serves no file. */
  readonly file?: string;
}

/**
 * Returns the routes that the admin page can show. The page fills no parameters except identifiers, so it shows no
 * lists whose path has parameters. Of parts of parts, it shows only files.
 */
export function shownRoutes(routes: readonly Route[]): ShownRoute[] {
  return routes.flatMap((route): ShownRoute[] => {
    const { action, perform, bytes } = actingLevel(route);
    const links = route.levels.flatMap(({ link }) => link ?? []);
    const [part, ...others] = bytes === undefined ? links : links.slice(0, -1);
    // Each property of the path follows the identifier of the entity that has it.
    const names: string[] = [];
    const base = links.reduceRight(
      (path) =>
        path.replace(/\/:[^/]+\/([^/:]+)$/, (_, name: string) => {
          names.unshift(name);
          return "";
        }),
      basePath(route),
    );
    const file = bytes === undefined ? undefined : names.at(-1);
    const isPlain = pathParameters(base).length === 0 && !/[*{}\\]/.test(base) && base !== "/";
    if (!isPlain || others.length > 0 || part?.array === false) return [];
    const kind = file !== undefined
      ? "file"
      : perform !== undefined
      ? "added"
      : action !== undefined
      ? "action"
      : "operation";
    if (part !== undefined && kind !== "operation" && kind !== "file") return [];
    return [{
      route,
      description: describeRoute(route),
      base,
      kind,
      ...part && names[0] !== undefined && { part: names[0] },
      ...file !== undefined && { file },
    }];
  });
}
