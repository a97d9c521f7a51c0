import type { Schema } from "mongoose";
import { keepsEntity } from "../../../declare/hooks/compose.ts";
import { isHookName, wordsOf } from "../../../declare/operations/operation.ts";
import type { OperationWords } from "../../../declare/operations/operation.ts";
import { STATUS_OF } from "../../../errors/refusals.ts";
import type { ErrorCode } from "../../../errors/refusals.ts";
import { declaredNames } from "../../../filter/parameters/parse_read.ts";
import type { PopulateRule, ReadRules } from "../../../filter/parameters/read_rules.ts";
import { filterNode, listPaths } from "../../../filter/q/describe_filter.ts";
import type { FilterNode } from "../../../filter/q/describe_filter.ts";
import type { FilterLimits } from "../../../filter/q/limits.ts";
import { referredTarget } from "../../../pipeline/references/referred_model.ts";
import { actingLevel } from "../../../pipeline/request/route.ts";
import type { Route } from "../../../pipeline/request/route.ts";
import { buildSchema } from "../../../schema/build_schema.ts";
import { describeFields } from "../../../schema/describe/describe_fields.ts";
import { describeObject } from "../../../schema/describe/object_node.ts";
import type { ObjectNode, View } from "../../../schema/describe/object_node.ts";
import { referenceIn, shapeForAll } from "../../../schema/fields/shape.ts";
import { hasOwnJson } from "../../../schema/mongoose/documents/hide_in_json.ts";
import { schemasWithin } from "../../../schema/mongoose/schemas/schema_members.ts";
import type {
  ErrorDescription,
  HeaderDescription,
  ParameterDescription,
  RouteDescription,
} from "./description.ts";

/** A route as data, with objects that other routes share. */
export interface RouteNode
  extends Omit<RouteDescription, "body" | "answer" | "filter" | keyof OperationWords> {
  readonly body?: ObjectNode;
  readonly answer?: AnswerNode;
  readonly filter?: { readonly object: FilterNode; readonly limits: FilterLimits };
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
  const { target, shape, operation, hooks, link, reads, filterPaths } = actingLevel(route);
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
    ...origin !== "new" && filterPaths?.names.length !== 0 && {
      filter: {
        object: filterNode(shape, { schema, model: target.name, paths: filterPaths?.names }),
        limits,
      },
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
    isHooked: isOwnJson(schema) ||
      CHANGING.some((name) => hooks[name] !== undefined && !keepsEntity(hooks[name])),
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
  const object = describeObject(shapeForAll(schema), place);
  return { object, ...select && { select }, always };
}

/** Writes a route on one line, such as `GET    /movies/:id  one  Movie`. */
export function printRoute({ method, path, operation, model }: RouteNode): string {
  return `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
}

/** Describes a route as data. */
export function describeRoute(route: RouteNode): RouteDescription {
  const { body, answer, filter, words, isHooked: _isHooked, many: _many, count: _count, ...node } =
    route;
  return {
    ...node,
    ...words,
    ...filter && { filter: { fields: listPaths(filter.object), limits: filter.limits } },
    ...body && { body: describeFields(body) },
    answer: answer === undefined ? [] : describeFields(answer.object),
  };
}

function describeParameters({ path, operation, levels }: Route): ParameterDescription[] {
  const inPath = pathParameters(path).map((name) =>
    ({ name, in: "path", required: true }) as const
  );
  const reads = levels.at(-1)?.reads ?? {};
  const declared = new Set([
    ...operation.origin === "new" ? [] : ["q"],
    ...declaredNames(reads),
    ...levels.flatMap(({ parameters }) => parameters),
  ]);
  const inQuery = [...declared].map((name) =>
    ({ name, in: "query", required: false, ...valuesOf(name, reads) }) as const
  );
  return [...inPath, ...inQuery];
}

function valuesOf(
  name: string,
  { page, sort, select, populate }: ReadRules,
): Pick<ParameterDescription, "fields" | "default" | "maximum"> {
  if (name === "limit" && page) return { default: page.size, maximum: page.max };
  if (name === "sort" && sort) return { fields: ["_id", ...sort] };
  if (name === "select" && select) return { fields: ["_id", ...select] };
  return name === "populate" && populate ? { fields: [...populate.keys()] } : {};
}

function describeHeaders(route: Route): HeaderDescription[] {
  const { concurrency, reads, operation } = actingLevel(route);
  const isRead = operation === "all" || operation === "one";
  const isBound = operation === "update" || operation === "remove";
  return [
    ...isRead ? [{ name: "If-None-Match", required: false } as const] : [],
    ...isBound ? [{ name: "If-Match", required: concurrency === "required" } as const] : [],
    ...reads?.count?.always === false ? [{ name: "Prefer", required: false } as const] : [],
  ];
}

/** A parameter of a path, as Express reads it: a name, which may be in quotes. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item } } = route;
  const { operation, concurrency, link } = actingLevel(route);
  const removesRequired = change === "remove" && link?.required === true && !link.array;
  const isMerge = change === "merge";
  const changesOne = operation === "update" || operation === "remove";
  const isPossible: Readonly<Record<ErrorCode, boolean>> = {
    BAD_FORMAT: true,
    BAD_DATA: isMerge || removesRequired,
    FORBIDDEN: canForbid(route),
    NOT_FOUND: item || route.levels.length > 1 || route.path.includes(":"),
    CONFLICT: changesOne || change !== undefined && canClash(route),
    PRECONDITION_FAILED: changesOne,
    UNSUPPORTED_MEDIA_TYPE: isMerge,
    PRECONDITION_REQUIRED: changesOne && concurrency === "required",
    INTERNAL: true,
    UNAVAILABLE: true,
  };
  const codes = (Object.keys(STATUS_OF) as ErrorCode[]).filter((code) => isPossible[code]);
  return [...new Set(codes.map((code) => STATUS_OF[code]))].map((status) => ({
    status,
    codes: codes.filter((code) => STATUS_OF[code] === status),
  }));
}

function canForbid(route: Route): boolean {
  const { hooks, scopes } = actingLevel(route);
  return route.levels.some((level) => level.hooks.preFetch !== undefined) ||
    hooks.preSave !== undefined || (route.operation.change === "merge" && scopes.length > 0);
}

/** Whether what is stored already, or another request, can prevent a write, or the removal of parts. */
function canClash(route: Route): boolean {
  const { target, link } = actingLevel(route);
  if (route.operation.change !== "merge") return link !== undefined;
  const indexes = buildSchema(target).schema.indexes();
  return link !== undefined || indexes.some(([, options]) => options.unique);
}
