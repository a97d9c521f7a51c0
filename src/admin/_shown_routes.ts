import { basePath } from "../describe/base_path.ts";
import { describeRoute, type RouteDescription } from "../describe/describe_route.ts";
import { pathParameters } from "../describe/paths.ts";
import { actingLevel, type Route } from "../pipeline/request/route.ts";

export interface ShownRoute {
  readonly route: Route;
  readonly description: RouteDescription;
  readonly base: string;
  readonly kind: "operation" | "added" | "action" | "file";
  /** The path segments of sub-resources. */
  readonly parts: readonly string[];
  readonly file?: string;
}

/** The page can fill only identifiers into paths, so a route with another parameter is left out. */
export function shownRoutes(routes: readonly Route[]): ShownRoute[] {
  return routes.flatMap((route): ShownRoute[] => {
    const { action, perform, bytes } = actingLevel(route);
    const links = route.levels.flatMap(({ link }) => link ?? []);
    const parts = bytes === undefined ? links : links.slice(0, -1);
    // Each step removes `/:id/name` from the end, until the path of the list is left.
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
    if (!isPlain || parts.some(({ array }) => !array)) return [];
    const kind = file !== undefined
      ? "file"
      : perform !== undefined
      ? "added"
      : action !== undefined
      ? "action"
      : "operation";
    if (parts.length > 0 && kind !== "operation" && kind !== "file") return [];
    return [{
      route,
      description: describeRoute(route),
      base,
      kind,
      parts: names.slice(0, parts.length),
      ...file !== undefined && { file },
    }];
  });
}
