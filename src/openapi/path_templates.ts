import { PATH_PARAMETER, pathParameters } from "../describe/paths.ts";
import type { RouteNode } from "./route_node.ts";

/**
 * For OpenAPI, paths that differ only in parameter names are one path, so they share the names of the first.
 *
 * @throws {TypeError} If OpenAPI cannot express a path, such as one with wildcards.
 */
export function withTemplates(routes: readonly RouteNode[]): RouteNode[] {
  const paths = new Map<string, string>();
  return routes.map((route) => {
    const { method, path } = route;
    const shape = path.replaceAll(PATH_PARAMETER, "{}");
    if (/[{}*\\:"]/.test(shape.replaceAll("{}", "")) || path.includes("{")) {
      throw new TypeError(
        `Cannot describe an API: OpenAPI has no optional parts, wildcards and escapes, as in ${method} ${path}`,
      );
    }
    const first = paths.get(shape) ?? path;
    paths.set(shape, first);
    const names = pathParameters(first);
    const own = route.parameters.filter((each) => each.in === "path");
    const parameters = route.parameters.map((each) => {
      const name = each.in === "path" ? names[own.indexOf(each)] : undefined;
      return name === undefined ? each : { ...each, name };
    });
    return { ...route, path: templateOf(first), parameters };
  });
}

export function templateOf(path: string): string {
  return path.replaceAll(
    PATH_PARAMETER,
    (_, name?: string, quoted?: string) => `{${name ?? quoted}}`,
  );
}
