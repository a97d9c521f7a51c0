import type { HookName } from "../../declare/hooks/hooks.ts";
import { isHookName } from "../../declare/operations/operation.ts";
import type { OperationName } from "../../declare/operations/operation.ts";
import { declaredNames } from "../../filter/parameters/parse_read.ts";
import type { ReadRules } from "../../filter/parameters/read_rules.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeFields } from "../../schema/describe/describe_fields.ts";
import type { FieldDescription } from "../../schema/describe/describe_fields.ts";
import { describeObject } from "../../schema/describe/object_node.ts";
import type { ObjectNode, View } from "../../schema/describe/object_node.ts";

/** A parameter of a request. */
export interface ParameterDescription {
  /** The name. */
  readonly name: string;
  /** Whether it is part of the path or of the query string. */
  readonly in: "path" | "query";
  /** Whether a request must have it. */
  readonly required: boolean;
  /** The fields that it can name, for `sort`, `select` and `populate`. */
  readonly fields?: readonly string[];
  /** The value that it has if it is not given, for `limit`. */
  readonly default?: number;
  /** The greatest value, for `limit`. */
  readonly maximum?: number;
}

/** A route, as data. */
export interface RouteDescription {
  /** The HTTP method. */
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  /** The path of the route in the router, such as `/movies/:id`. */
  readonly path: string;
  /** The name of the operation. */
  readonly operation: OperationName;
  /** The name of the model class. */
  readonly model: string;
  /** The parameters of the path and of the query string. */
  readonly parameters: readonly ParameterDescription[];
  /** The fields that a body can set. Missing if the operation reads no body. */
  readonly body?: readonly FieldDescription[];
  /** The fields of each entity in the answer. Empty if the answer has no body. */
  readonly answer: readonly FieldDescription[];
  /** The names of the hooks that the operation declares. */
  readonly hooks: readonly HookName[];
}

/** A route as data, before its objects become trees. */
export interface RouteNode extends Omit<RouteDescription, "body" | "answer"> {
  readonly body?: ObjectNode;
  readonly answer?: ObjectNode;
  /** The status of success. */
  readonly status: number;
  /** Whether the answer is a list. */
  readonly many: boolean;
}

/** Describes routes as data, in the order in which they are mounted. */
export function describeRoutes(routes: readonly RouteNode[]): RouteDescription[] {
  return routes.map(describeRoute);
}

/** Writes a route on one line, such as `GET    /movies/:id  one  Movie`. */
export function printRoute({ method, path, operation, model }: RouteNode): string {
  return `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
}

function describeRoute(
  { body, answer, status: _status, many: _many, ...node }: RouteNode,
): RouteDescription {
  return {
    ...node,
    ...body && { body: describeFields(body) },
    answer: answer === undefined ? [] : describeFields(answer),
  };
}

/** Describes a route, with objects that other routes share. */
export function routeNode(route: Route): RouteNode {
  const { path, operation: { verb, change, status, origin, many } } = route;
  const { target, shape, operation, hooks, link } = actingLevel(route);
  const embedded = link?.embedded ? buildSchema(target).schema : undefined;
  const object = (view: View) => describeObject(shape, { view, embedded, model: target.name });
  return {
    method: verb.toUpperCase() as RouteDescription["method"],
    path,
    operation,
    model: target.name,
    parameters: parametersOf(route),
    ...change === "merge" && { body: object(origin === "new" ? "new" : "patch") },
    ...status !== 204 && { answer: object("answer") },
    hooks: Object.keys(hooks).filter(isHookName),
    status,
    many,
  };
}

function parametersOf({ path, operation, levels }: Route): ParameterDescription[] {
  const named = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => name);
  const inPath = named.map((name) => ({ name, in: "path", required: true } as const));
  const q = operation.origin === "new" ? [] : ["q"];
  const reads = levels.at(-1)?.reads ?? {};
  const known = declaredNames(reads);
  const declared = new Set([...q, ...known, ...levels.flatMap(({ parameters }) => parameters)]);
  const inQuery = [...declared].map((name) => ({
    ...{ name, in: "query", required: false } as const,
    ...detailsOf(name, reads),
  }));
  return [...inPath, ...inQuery];
}

/** What is known of the values of a parameter. */
function detailsOf(
  name: string,
  { page, sort, select, populate }: ReadRules,
): Pick<ParameterDescription, "fields" | "default" | "maximum"> {
  if (name === "limit" && page) return { default: page.size, maximum: page.max };
  if (name === "sort" && sort) return { fields: ["_id", ...sort] };
  if (name === "select" && select) return { fields: ["_id", ...select] };
  return name === "populate" && populate ? { fields: [...populate.keys()] } : {};
}
