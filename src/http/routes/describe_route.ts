import type { HookName } from "../../declare/hooks/hooks.ts";
import type { ModelClass } from "../../declare/model/framework_model.ts";
import { isHookName, wordsOf } from "../../declare/operations/operation.ts";
import type { OperationName, OperationWords } from "../../declare/operations/operation.ts";
import { STATUS_OF } from "../../errors/refusals.ts";
import type { ErrorCode } from "../../errors/refusals.ts";
import { declaredNames } from "../../filter/parameters/parse_read.ts";
import type { PopulateRule, ReadRules } from "../../filter/parameters/read_rules.ts";
import { filterNode, listPaths } from "../../filter/q/describe_filter.ts";
import type { FilterDescription, FilterNode } from "../../filter/q/describe_filter.ts";
import type { QueryLimits } from "../../filter/q/limits.ts";
import { referredTarget } from "../../pipeline/references/referred_model.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import { describeFields, describeObject } from "../../schema/describe_object.ts";
import type { FieldDescription, ObjectNode, View } from "../../schema/describe_object.ts";
import { describeShape, referenceIn } from "../../schema/fields/shape.ts";
import { hasOwnJson } from "../../schema/mongoose/documents/hide_in_json.ts";
import { schemasWithin } from "../../schema/mongoose/schemas/schema_members.ts";

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

/** A header of a request that changes what the operation does. */
export interface HeaderDescription {
  /** The name. */
  readonly name: "If-Match" | "If-None-Match" | "Prefer";
  /** Whether a request must have it. */
  readonly required: boolean;
}

/** An answer that is an error. */
export interface ErrorDescription {
  /** The HTTP status. */
  readonly status: number;
  /** The codes of the framework with this status. Hooks can use the status with other codes. */
  readonly codes: readonly string[];
}

/** A route, as data. */
export interface RouteDescription extends OperationWords {
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
  /** The headers that the operation reads. */
  readonly headers: readonly HeaderDescription[];
  /** The paths and operators that `q` may hold. Missing if the operation has no `q`. */
  readonly filter?: FilterDescription;
  /** The fields that a body can set. Missing if the operation reads no body. */
  readonly body?: readonly FieldDescription[];
  /** The fields of each entity in the answer. Empty if the answer has no body. */
  readonly answer: readonly FieldDescription[];
  /** The HTTP status of success. */
  readonly status: number;
  /** The errors that the framework can answer. Hooks, and what stands before the router, can answer others. */
  readonly errors: readonly ErrorDescription[];
  /** The names of the hooks that the operation declares. */
  readonly hooks: readonly HookName[];
}

/** A route as data, with objects that other routes share. */
export interface RouteNode
  extends Omit<RouteDescription, "body" | "answer" | "filter" | keyof OperationWords> {
  readonly body?: ObjectNode;
  readonly answer?: AnswerNode;
  readonly filter?: { readonly object: FilterNode; readonly limits: Required<QueryLimits> };
  readonly words: OperationWords;
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
  readonly select?: readonly string[];
  readonly always: boolean;
}

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
    ...status !== 204 && { answer: answerNode(route, object("answer")) },
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

function answerNode(route: Route, object: ObjectNode): AnswerNode {
  const { target, hooks, reads } = actingLevel(route);
  const isHooked = makesOwnJson(target) || CHANGING.some((name) => hooks[name] !== undefined);
  const populated = [...reads?.populate ?? []].map(([name, rule]) =>
    [name, populatedNode(rule)] as const
  );
  return {
    ...{ object, isHooked, isSelected: reads?.select !== undefined, populated: new Map(populated) },
  };
}

/** Whether functions of the application make the JSON of an entity, or of what it embeds. */
function makesOwnJson(target: ModelClass): boolean {
  return [...schemasWithin(buildSchema(target).schema)].some(hasOwnJson);
}

function populatedNode({ field, select, always }: PopulateRule): PopulatedNode {
  const reference = referenceIn(field);
  const target = reference && referredTarget(reference);
  if (target === undefined || makesOwnJson(target)) return { always };
  const { schema } = buildSchema(target);
  const place = { view: "answer", schema, embedded: false, model: target.name } as const;
  return {
    ...{ object: describeObject(describeShape(schema), place), always },
    ...select && { select },
  };
}

/** Writes a route on one line, such as `GET    /movies/:id  one  Movie`. */
export function printRoute({ method, path, operation, model }: RouteNode): string {
  return `${method.padEnd(6)} ${path}  ${operation}  ${model}`;
}

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
  const reads = levels.at(-1)?.reads ?? {};
  const declared = new Set([
    ...operation.origin === "new" ? [] : ["q"],
    ...declaredNames(reads),
    ...levels.flatMap(({ parameters }) => parameters),
  ]);
  return [
    ...pathParameters(path).map((name) => ({ name, in: "path", required: true }) as const),
    ...[...declared].map((name) =>
      ({ name, in: "query", required: false, ...valuesOf(name, reads) }) as const
    ),
  ];
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
  const isBound = operation === "update" || operation === "remove";
  const names: readonly (false | HeaderDescription["name"])[] = [
    route.operation.verb === "get" && "If-None-Match",
    isBound && "If-Match",
    reads?.count?.always === false && "Prefer",
  ];
  return names.filter((name) => name !== false).map((name) => {
    return { name, required: name === "If-Match" && concurrency === "required" };
  });
}

/** A parameter of a path, as Express reads it: a name, which may be in quotes. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item }, levels } = route;
  const { target, operation, concurrency, hooks, link, scopes } = actingLevel(route);
  const removesRequired = change === "remove" && link?.required === true && !link.array;
  const isMerge = change === "merge";
  const changesOne = operation === "update" || operation === "remove";
  const isUnique = () =>
    buildSchema(target).schema.indexes().some(([, options]) => options.unique === true);
  const isPossible: Readonly<Record<ErrorCode, boolean>> = {
    BAD_FORMAT: true,
    BAD_DATA: isMerge || removesRequired,
    FORBIDDEN: levels.some((level) => level.hooks.preFetch !== undefined) ||
      hooks.preSave !== undefined || (isMerge && scopes.length > 0),
    NOT_FOUND: item || levels.length > 1 || route.path.includes(":"),
    CONFLICT: changesOne || (change !== undefined && link !== undefined) || (isMerge && isUnique()),
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
