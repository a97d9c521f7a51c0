import { actingLevel, type Route } from "../pipeline/request/route.ts";

export function basePath(route: Route): string {
  const { operation, action } = actingLevel(route);
  const place = action === undefined ? route.path : route.path.slice(0, -`/${operation}`.length);
  return (route.operation.item ? place.replace(/\/:[^/]+$/, "") : place) || "/";
}
