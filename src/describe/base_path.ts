import { actingLevel, type Route } from "../pipeline/request/route.ts";

/**
 * Returns the path of the list to which a route belongs, such as `/movies` for `/movies/:id`. Each `@rest` decorator of
 * a class has another path, so the path decides which decorator has declared the route.
 */
export function basePath(route: Route): string {
  const { operation, action } = actingLevel(route);
  const place = action === undefined ? route.path : route.path.slice(0, -`/${operation}`.length);
  return (route.operation.item ? place.replace(/\/:[^/]+$/, "") : place) || "/";
}
