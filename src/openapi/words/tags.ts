import type { RouteNode } from "../route_node.ts";
import { listPath } from "./summaries.ts";

function ownTag({ model, bytes, property }: RouteNode): string {
  return bytes === undefined ? model : property?.parent ?? model;
}

export function tagsOf(route: RouteNode): readonly string[] {
  return route.words.tags ?? [ownTag(route)];
}

export function describeTags(
  routes: Iterable<RouteNode>,
  others: readonly (readonly [tag: string, path: string])[],
): object[] {
  const places = new Map<string, Set<string>>();
  for (const route of routes) {
    const own = ownTag(route);
    for (const tag of tagsOf(route)) {
      const known = places.get(tag) ?? new Set();
      places.set(tag, known);
      if (tag === own) known.add(listPath(route));
    }
  }
  for (const [tag, path] of others) places.set(tag, (places.get(tag) ?? new Set()).add(path));
  return [...places].map(([name, paths]) => {
    const listed = [...paths].map((path) => `\`${path}\``).join(", ");
    return { name, ...listed !== "" && { description: `At ${listed}` } };
  });
}
