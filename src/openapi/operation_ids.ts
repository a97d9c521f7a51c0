import { isOperationName } from "../declare/operations/operation.ts";
import type { RouteNode } from "./route_node.ts";

/** @throws {TypeError} If two operations have the same option `operationId`. */
export function nameOperations(routes: readonly RouteNode[]): Map<RouteNode, string> {
  const taken = new Map<string, RouteNode>();
  for (const route of routes) {
    const { words: { operationId } } = route;
    if (operationId === undefined) continue;
    const other = taken.get(operationId);
    if (other !== undefined) {
      throw new TypeError(
        `Cannot describe an API: operationId "${operationId}" of ${placeOf(route)} ` +
          `is that of ${placeOf(other)} too`,
      );
    }
    taken.set(operationId, route);
  }
  return new Map(routes.map((route) => {
    const name = route.words.operationId ?? freeName(route, taken);
    taken.set(name, route);
    return [route, name];
  }));
}

function placeOf({ method, path }: RouteNode): string {
  return `${method} ${path}`;
}

function freeName(route: RouteNode, taken: ReadonlyMap<string, unknown>): string {
  const short = nameAfter(route, /\/\{[^}]*\}/g);
  if (!taken.has(short)) return short;
  const long = nameAfter(route, /(?!)/g);
  let free = long;
  for (let count = 2; taken.has(free); count++) free = `${long}${count}`;
  return free;
}

function nameAfter({ operation, path, isQuery }: RouteNode, leftOut: RegExp): string {
  // The operation ID must not repeat the name of an action, which ends its path.
  const place = isOperationName(operation) ? path : path.slice(0, -operation.length);
  const words = place.replaceAll(leftOut, "").match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  const [first, ...others] = isQuery ? ["query"] : operation.split(/[-_]+/);
  return first + [...others, ...words].map(capitalize).join("");
}

export function capitalize(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
