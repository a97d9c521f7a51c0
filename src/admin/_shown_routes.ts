import { basePath } from "../describe/base_path.ts";
import { describeRoute, type RouteDescription } from "../describe/describe_route.ts";
import { pathParameters } from "../describe/paths.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";

/** A route that the admin page may show, and its place in the JSON document of the page. */
export interface ShownRoute {
  readonly route: Route;
  /**
   * The description by which the function `see`, an option of `admin()`, decides whether the admin page shows the
   * route.
   */
  readonly description: RouteDescription;
  /**
   * The path of the list of the route's model, such as `/tickets`. Routes with the same path belong to the same model
   * on the admin page.
   */
  readonly base: string;
  readonly kind: "operation" | "added" | "action" | "file";
  /**
   * The segment of the path that names the parts of an entity, such as `comments` in `/tickets/:id/comments`. The
   * segment is the name of their property, unless the `@rest` of the property has another route. Missing for a route of
   * the model itself.
   */
  readonly part?: string;
  /**
   * The segment of the path that names a file, such as `photo` in `/tickets/:id/photo`. Missing for a route that serves
   * no file.
   */
  readonly file?: string;
}

/**
 * Returns the routes that the admin page can show. The page fills only identifiers into paths, so it shows no list
 * whose path has other parameters. Of the parts below other parts, it shows only files.
 */
export function shownRoutes(routes: readonly Route[]): ShownRoute[] {
  return routes.flatMap((route): ShownRoute[] => {
    const { action, perform, bytes } = actingLevel(route);
    const links = route.levels.flatMap(({ link }) => link ?? []);
    const [part, ...others] = bytes === undefined ? links : links.slice(0, -1);
    // In a path such as `/tickets/:id/comments`, each property follows the identifier of the entity that has the
    // property. Each step therefore removes an identifier and a property from the end of the path, and keeps the name
    // of the property.
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
