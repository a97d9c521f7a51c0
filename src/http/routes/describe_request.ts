import { takesQ } from "../../declare/operations/operation.ts";
import { type ErrorCode, STATUS_OF } from "../../errors/refusals.ts";
import { declaredNames } from "../../filter/parameters/parse_read.ts";
import type { GroupRules, ReadRules } from "../../filter/parameters/read_rules.ts";
import { type FilterDescription, listedOf, listPaths } from "../../filter/q/describe_filter.ts";
import { actingLevel, type Route, type WriteRules } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import type {
  ErrorDescription,
  HeaderDescription,
  ParameterDescription,
  WriteDescription,
} from "./describe_route.ts";

/** Matches a parameter in a path of Express, such as `:id`. The name of a parameter may be in quotes. */
export const PATH_PARAMETER =
  /:(?:([\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*)|"([^"\\{}/]+)")/gu;

/**
 * Returns a key that is equal for paths that match the same requests, so that the second of two such routes can be
 * refused. Express ignores case by default, and the names of parameters make no difference.
 */
export function pathKey(path: string): string {
  return path.replaceAll(PATH_PARAMETER, ":").toLowerCase();
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(PATH_PARAMETER)].map(([, name, quoted = ""]) => name ?? quoted);
}

export function describeFilter(route: Route): FilterDescription | undefined {
  const { operation, limits } = route;
  const { target, shape, filterPaths } = actingLevel(route);
  if (!takesQ(operation) || filterPaths?.names.length === 0) return undefined;
  const fields = listPaths(shape, buildSchema(target));
  return { fields: filterPaths === undefined ? fields : listedOf(fields, filterPaths), limits };
}

export function describeParameters({ path, operation, levels }: Route): ParameterDescription[] {
  const { reads = {}, filterPaths, writes: { needsQ = false } = {} } = levels.at(-1) ?? {};
  const declared = new Set([
    ...!takesQ(operation) || filterPaths?.names.length === 0 ? [] : ["q"],
    ...declaredNames(reads),
    ...levels.flatMap(({ parameters }) => parameters),
  ]);
  return [
    ...pathParameters(path).map((name) => ({ name, in: "path", required: true }) as const),
    ...[...declared].map((name) =>
      ({ name, in: "query", required: name === "q" && needsQ, ...valuesOf(name, reads) }) as const
    ),
  ];
}

function valuesOf(
  name: string,
  { page, sort, select, populate, groups }: ReadRules,
): Pick<ParameterDescription, "fields" | "default" | "maximum"> {
  if (name === "limit" && page) return { default: page.size, maximum: page.max };
  if (name === "sort") {
    return { fields: [...new Set([...sort ? ["_id", ...sort] : [], ...groupOrders(groups)])] };
  }
  if (name === "group" && groups) return { fields: [...groups.by.keys()] };
  if ((name === "sum" || name === "avg") && groups) return { fields: [...groups[name]] };
  if (name === "select" && select) return { fields: ["_id", ...select] };
  return name === "populate" && populate ? { fields: [...populate.keys()] } : {};
}

/** Returns the names by which the parameter `sort` can sort groups, such as `count` and `sum.price`. */
function groupOrders(groups: GroupRules | undefined): string[] {
  if (groups === undefined) return [];
  const totals = (["sum", "avg"] as const).flatMap((kind) =>
    [...groups[kind]].map((name) => `${kind}.${name}`)
  );
  return [...groups.by.keys(), ...groups.count ? ["count"] : [], ...totals];
}

export function describeHeaders(route: Route): HeaderDescription[] {
  const { concurrency, reads, writes } = actingLevel(route);
  const { verb, change } = route.operation;
  const preferences = describePreferences(route);
  // A replacement may send `If-None-Match` instead of `If-Match`, to create an entity. For this reason, it does not
  // need `If-Match`.
  const needsMatch = concurrency === "required" && verb !== "get" && change !== "replace";
  const headers: readonly (false | HeaderDescription)[] = [
    (verb === "get" || change === "replace") && { name: "If-None-Match", required: false },
    isBound(route) && { name: "If-Match", required: needsMatch },
    preferences.length > 0 && { name: "Prefer", required: false, preferences },
    reads?.live !== undefined && { name: "Last-Event-ID", required: false },
    writes?.idempotency !== undefined &&
    { name: "Idempotency-Key", required: writes.idempotency.isRequired },
  ];
  return headers.filter((header) => header !== false);
}

type Preference = NonNullable<HeaderDescription["preferences"]>[number];

function describePreferences(route: Route): Preference[] {
  const { operation, reads } = actingLevel(route);
  const { change, many } = route.operation;
  const names: readonly (false | Preference)[] = [
    reads?.count?.always === false && "count=exact",
    (change === "merge" || change === "replace") && !many && "return=minimal",
    (operation === "updateAll" || operation === "removeAll") && "max-affected",
  ];
  return names.filter((name) => name !== false);
}

export function describeWrites(
  operation: string,
  { many, atomic, max = Infinity, by, idempotency }: WriteRules,
): WriteDescription {
  return {
    ...many !== undefined && { many },
    ...(many !== undefined || operation === "updateAll") && { atomic },
    ...max !== Infinity && { max },
    ...by !== undefined && { by },
    ...idempotency && { keepMS: idempotency.keepMS },
  };
}

/**
 * Whether a route writes a single entity, whose version `If-Match` can name. Only the description of such a route has
 * the header `If-Match`.
 */
function isBound({ operation: { change, origin } }: Route): boolean {
  return change !== undefined && (origin === "byId" || origin === "byKey");
}

export function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item, verb }, levels } = route;
  const { target, operation, action, concurrency, hooks, link, reads, scopes, writes } =
    actingLevel(route);
  const keys = writes?.idempotency !== undefined;
  const affects = operation === "updateAll" || operation === "removeAll";
  const removesRequired = change === "remove" && link?.required === true && !link.array;
  const isMerge = change === "merge" || change === "replace";
  const changes = change !== undefined && verb !== "get";
  const acts = changes && action !== undefined;
  const isUnique = () =>
    buildSchema(target).schema.indexes().some(([, options]) => options.unique === true);
  const isPossible: Readonly<Record<ErrorCode, boolean | undefined>> = {
    BAD_FORMAT: true,
    BAD_DATA: isMerge || acts || removesRequired,
    FORBIDDEN: levels.some((level) => level.hooks.preFetch !== undefined) ||
      hooks.preSave !== undefined || ((isMerge || acts) && scopes.length > 0),
    NOT_FOUND: item || keys || levels.length > 1 || route.path.includes(":"),
    NOT_ACCEPTABLE: reads?.formats !== undefined,
    CONFLICT: reads?.live !== undefined || reads?.groups !== undefined || acts || keys || affects ||
      changes && (isBound(route) || link !== undefined) ||
      (isMerge && isUnique()),
    PRECONDITION_FAILED: isBound(route),
    PAYLOAD_TOO_LARGE: writes?.many !== undefined || operation === "updateAll" && writes?.atomic,
    UNPROCESSABLE_ENTITY: keys,
    UNSUPPORTED_MEDIA_TYPE: isMerge || action?.body !== undefined,
    PRECONDITION_REQUIRED: changes && isBound(route) && concurrency === "required",
    INTERNAL: true,
    UNAVAILABLE: true,
  };
  const codes = (Object.keys(STATUS_OF) as ErrorCode[]).filter((code) => isPossible[code]);
  return [...new Set(codes.map((code) => STATUS_OF[code]))].map((status) => ({
    status,
    codes: codes.filter((code) => STATUS_OF[code] === status),
  }));
}
