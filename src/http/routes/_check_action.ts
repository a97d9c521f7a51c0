import type { ActionRecord } from "../../declare/operations/action.ts";
import type { Method } from "../../declare/operations/methods.ts";
import { isOperationName } from "../../declare/operations/operation.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { isModelClass } from "../../schema/build_field.ts";
import type { PartLink } from "../../schema/describe_parts.ts";
import { isSchema } from "../../schema/standard_schema.ts";
import { pathKey } from "./describe_route.ts";

/** A part of a path that no URL has to encode. */
const NAME = /^[A-Za-z][\w-]*$/;

/** Finds what is wrong with an action, its hooks aside. */
export function actionProblem(given: Method & ActionRecord): string | undefined {
  const { operation: name, on, method, body, answer, run } = given;
  if (typeof name !== "string" || !NAME.test(name)) {
    return `is called ${
      JSON.stringify(name)
    }: a name has letters, digits, - and _, and begins with a letter`;
  }
  if (isOperationName(name)) return `has the name of an operation`;
  if (on !== "one" && on !== "all") return `needs "one" or "all" as "on"`;
  if (method !== "POST" && method !== "GET") return `needs "POST" or "GET" as "method"`;
  if (typeof run !== "function") return `needs a function as "run"`;
  for (const [option, type] of Object.entries({ body, answer })) {
    if (type === undefined || isModelClass(type) || isSchema(type)) continue;
    return `needs a model class or a Standard Schema as "${option}"`;
  }
  return body !== undefined && method === "GET" ? `is a GET, and cannot have "body"` : undefined;
}

/** Finds why a property cannot have an action on all that it holds. */
export function placeProblem({ on }: ActionRecord, { embedded }: PartLink): string | undefined {
  return on === "all" && embedded
    ? "holds entities without a collection of their own: declare the action on its parent"
    : undefined;
}

/** Checks that no path of an action is one of another route, whatever its verb. */
export function checkActionPaths(routes: readonly Route[]): void {
  const holders = new Map<string, Route>();
  for (const route of routes) {
    if (actingLevel(route).action !== undefined) continue;
    for (const path of [route.path, route.path.replace(/\/:[^/]*$/, "")]) {
      holders.set(pathKey(path), route);
    }
  }
  for (const route of routes) {
    if (actingLevel(route).action === undefined) continue;
    const key = pathKey(route.path);
    const holder = holders.get(key);
    if (holder !== undefined) {
      throw new TypeError(
        `Cannot mount "${actingLevel(route).target.name}": ${nameOf(route)} has the path of ${
          nameOf(holder)
        }, ${route.path}`,
      );
    }
    holders.set(key, route);
  }
}

function nameOf(route: Route): string {
  const { operation, action, target, link } = actingLevel(route);
  if (action !== undefined) return `action "${operation}"`;
  const place = link === undefined ? `"${target.name}"` : `property "${link.property}"`;
  return `${operation}() of ${place}`;
}
