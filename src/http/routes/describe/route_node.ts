import type { Schema } from "mongoose";
import { isHookName, wordsOf } from "../../../declare/operations/operation.ts";
import type { OperationWords } from "../../../declare/operations/operation.ts";
import type { PopulateRule } from "../../../filter/parameters/read_rules.ts";
import { filterNode, listPaths } from "../../../filter/q/describe_filter.ts";
import type { FilterNode } from "../../../filter/q/describe_filter.ts";
import type { QueryLimits } from "../../../filter/q/limits.ts";
import { referredTarget } from "../../../pipeline/references/referred_model.ts";
import { actingLevel } from "../../../pipeline/request/route.ts";
import type { Route } from "../../../pipeline/request/route.ts";
import { buildSchema } from "../../../schema/build_schema.ts";
import { describeFields } from "../../../schema/describe/describe_fields.ts";
import { describeObject } from "../../../schema/describe/object_node.ts";
import type { ObjectNode, View } from "../../../schema/describe/object_node.ts";
import { describeShape, referenceIn } from "../../../schema/fields/shape.ts";
import { hasOwnJson } from "../../../schema/mongoose/documents/hide_in_json.ts";
import { schemasWithin } from "../../../schema/mongoose/schemas/schemas_within.ts";
import type { RouteDescription } from "./description.ts";
import { describeErrors } from "./errors.ts";
import { describeHeaders, describeParameters } from "./parameters.ts";

/** A route as data, with objects that other routes share. */
export interface RouteNode
  extends Omit<RouteDescription, "body" | "answer" | "filter" | keyof OperationWords> {
  readonly body?: ObjectNode;
  readonly answer?: AnswerNode;
  readonly filter?: { readonly object: FilterNode; readonly limits: Required<QueryLimits> };
  readonly words: OperationWords;
  /** How a list tells its total, if it does. */
  readonly count?: { readonly always: boolean };
  readonly many: boolean;
  /** Whether functions of the application can refuse a request in their own words. */
  readonly isHooked: boolean;
}

export interface AnswerNode {
  readonly object: ObjectNode;
  /** Whether hooks, or the application's own `toJSON`, can put something else in its place. */
  readonly isHooked: boolean;
  readonly isSelected: boolean;
  /** The references in whose place entities can stand. */
  readonly populated: ReadonlyMap<string, PopulatedNode>;
}

export interface PopulatedNode {
  /** Missing where nothing is known of the model, or the application makes its JSON. */
  readonly object?: ObjectNode;
  /** The fields that are shown besides `_id`; all if there is none. */
  readonly select?: readonly string[];
  readonly always: boolean;
}

/** Describes a route, with objects that other routes share. */
export function routeNode(route: Route): RouteNode {
  const { path, operation: { verb, change, status, origin, many }, levels, limits } = route;
  const { target, shape, operation, hooks, link, reads } = actingLevel(route);
  const { schema } = buildSchema(target);
  const place = { schema, embedded: link?.embedded === true, model: target.name };
  const object = (view: View) => describeObject(shape, { view, ...place });
  return {
    method: verb.toUpperCase() as RouteDescription["method"],
    path,
    operation,
    model: target.name,
    parameters: describeParameters(route),
    headers: describeHeaders(route),
    ...origin !== "new" && {
      filter: { object: filterNode(shape, { schema, model: target.name }), limits },
    },
    ...change === "merge" && { body: object(origin === "new" ? "new" : "patch") },
    ...status !== 204 && { answer: answerNode(route, { object: object("answer"), schema }) },
    status,
    errors: describeErrors(route),
    hooks: Object.keys(hooks).filter(isHookName),
    words: wordsOf(hooks),
    ...reads?.count && { count: { always: reads.count.always } },
    many,
    isHooked: route.getConnection !== undefined || route.reporter.hasOnError ||
      levels.some((level) => level.scopes.length > 0 || Object.keys(level.hooks).some(isHookName)),
  };
}

/** The hooks that can put something else in the place of the entity. */
const CHANGING = ["fetch", "postFetch", "persist", "preSend"] as const;

function answerNode(
  route: Route,
  { object, schema }: { readonly object: ObjectNode; readonly schema: Schema },
): AnswerNode {
  const { hooks, reads } = actingLevel(route);
  return {
    object,
    isHooked: isOwnJson(schema) || CHANGING.some((name) => hooks[name] !== undefined),
    isSelected: reads?.select !== undefined,
    populated: new Map(
      [...reads?.populate ?? []].map(([name, rule]) => [name, populatedNode(rule)]),
    ),
  };
}

/** Whether functions of the application make the JSON of an entity, or of what it embeds. */
function isOwnJson(schema: Schema): boolean {
  return [...schemasWithin(schema)].some(hasOwnJson);
}

function populatedNode({ field, select, always }: PopulateRule): PopulatedNode {
  const reference = referenceIn(field);
  const target = reference && referredTarget(reference);
  if (target === undefined) return { always };
  const { schema } = buildSchema(target);
  if (isOwnJson(schema)) return { always };
  const place = { view: "answer", schema, embedded: false, model: target.name } as const;
  const object = describeObject(describeShape(schema), place);
  return { object, ...select && { select }, always };
}

/** Describes routes as data, in the order in which they are mounted. */
export function describeRoutes(routes: readonly RouteNode[]): RouteDescription[] {
  return routes.map(describeRoute);
}

/** Writes a route on one line, such as `GET    /movies/:id  one  Movie`. */
export function printRoute(
  { method, path, operation, model }: Pick<
    RouteDescription,
    "method" | "path" | "operation" | "model"
  >,
): string {
  return `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
}

function describeRoute(route: RouteNode): RouteDescription {
  const { body, answer, filter, words, ...others } = route;
  const { isHooked: _isHooked, many: _many, count: _count, ...node } = others;
  return {
    ...node,
    ...words,
    ...filter && { filter: { fields: listPaths(filter.object), limits: filter.limits } },
    ...body && { body: describeFields(body) },
    answer: answer === undefined ? [] : describeFields(answer.object),
  };
}
