import { takesQ } from "../declare/operations/operation.ts";
import { type ErrorCode, STATUS_OF } from "../errors/refusals.ts";
import { type FilterDescription, listedOf, listPaths } from "./describe_filter.ts";
import type { ParameterFacts } from "../pipeline/description.ts";
import {
  actingLevel,
  type Level,
  type Route,
  type WriteLimits,
} from "../pipeline/request/route.ts";
import { buildSchema } from "../schema/build_schema.ts";
import { pathParameters } from "./paths.ts";
import type {
  ErrorDescription,
  HeaderDescription,
  ParameterDescription,
  WriteDescription,
} from "./describe_route.ts";

export function describeFilter(route: Route): FilterDescription | undefined {
  const { operation, limits } = route;
  const { target, shape, filterPaths } = actingLevel(route);
  if (!takesQ(operation) || filterPaths?.names.length === 0) return undefined;
  const fields = listPaths(shape, buildSchema(target));
  return { fields: filterPaths === undefined ? fields : listedOf(fields, filterPaths), limits };
}

export function parameterFacts(
  { options, added }: Level,
): Readonly<Record<string, ParameterFacts>> {
  return { ...added, ...options.description.parameters };
}

export function describeParameters({ path, operation, levels }: Route): ParameterDescription[] {
  const acting = levels.at(-1) as Level;
  const { filterPaths, writes: { needsQ = false } = {} } = acting;
  const parameters = parameterFacts(acting);
  const declared = new Set([
    ...!takesQ(operation) || filterPaths?.names.length === 0 ? [] : ["q"],
    ...Object.keys(parameters),
    ...levels.flatMap(({ parameters }) => parameters),
  ]);
  return [
    ...pathParameters(path).map((name) =>
      ({ name, in: "path", required: true, ...idTypeOf(name, levels) }) as const
    ),
    ...[...declared].map((name) =>
      ({
        name,
        in: "query",
        required: name === "q" && needsQ,
        ...valuesOf(parameters[name]),
      }) as const
    ),
  ];
}

function idTypeOf(name: string, levels: readonly Level[]): Pick<ParameterDescription, "idType"> {
  const level = levels.find(({ parameter }) => parameter === name);
  const { instance } = level?.shape.fields.get("_id")?.type ?? {};
  const isOther = instance === "String" || instance === "Number" || instance === "UUID";
  return isOther ? { idType: instance } : {};
}

function valuesOf(
  { fields, default: given, maximum }: Partial<ParameterFacts> = {},
): Pick<ParameterDescription, "fields" | "default" | "maximum"> {
  return {
    ...fields && { fields },
    ...given !== undefined && { default: given },
    ...maximum !== undefined && { maximum },
  };
}

export function describeHeaders(route: Route): HeaderDescription[] {
  const { ifMatch, options, bytes } = actingLevel(route);
  const { verb, change } = route.operation;
  const preferences = describePreferences(route);
  // A PUT that creates an entity has `If-None-Match` instead of `If-Match`.
  const needsMatch = ifMatch === true && verb !== "get" &&
    (change !== "replace" || bytes !== undefined);
  const described = { ...options.description.headers, ...bytes?.headers };
  const ofFeatures = Object.entries(described).map(([name, { required }]) => ({
    name: name as HeaderDescription["name"],
    required,
  }));
  const headers: readonly (false | HeaderDescription)[] = [
    (verb === "get" || change === "replace") && { name: "If-None-Match", required: false },
    isBound(route) && { name: "If-Match", required: needsMatch },
    preferences.length > 0 && { name: "Prefer", required: false, preferences },
    ...ofFeatures,
  ];
  return headers.filter((header) => header !== false);
}

type Preference = NonNullable<HeaderDescription["preferences"]>[number];

function describePreferences(route: Route): Preference[] {
  const { operation, options } = actingLevel(route);
  const { change, many } = route.operation;
  const ofFeatures = Object.entries(options.description.preferences)
    .flatMap(([name, text]) => text === undefined ? [] : [name as Preference]);
  const names: readonly (false | Preference)[] = [
    ...ofFeatures,
    (change === "merge" || change === "replace") && !many && "return=minimal",
    (operation === "updateAll" || operation === "removeAll") && "max-affected",
  ];
  return names.filter((name) => name !== false);
}

export function describeWrites(
  operation: string,
  { atomic, max = Infinity, by }: WriteLimits,
): WriteDescription {
  return {
    ...operation === "updateAll" && { atomic },
    ...max !== Infinity && { max },
    ...by !== undefined && { by },
  };
}

/** `If-Match` applies to a write of a single entity. */
function isBound({ operation: { change, origin } }: Route): boolean {
  return change !== undefined && (origin === "byId" || origin === "byKey");
}

export function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item, verb }, levels } = route;
  const acting = actingLevel(route);
  const { target, operation, action, ifMatch, hooks, link, options, scopes, writes, bytes } =
    acting;
  const { isOpen, guardedParameters = [], parameters } = acting;
  const isGuarded = guardedParameters.some((each) => parameters.includes(each));
  const affects = operation === "updateAll" || operation === "removeAll";
  const removesRequired = change === "remove" && link?.required === true && !link.array;
  const isMerge = change === "merge" || change === "replace";
  const changes = change !== undefined && verb !== "get";
  const acts = changes && action !== undefined;
  const isUnique = () =>
    buildSchema(target).schema.indexes().some(([, options]) => options.unique === true);
  const isPossible: { readonly [N in ErrorCode]?: boolean | undefined } = {
    BAD_FORMAT: true,
    BAD_DATA: isMerge && bytes === undefined || acts || removesRequired,
    FORBIDDEN: route.guard !== undefined && (!isOpen || isGuarded) ||
      levels.some((level) => level.hooks.preFetch !== undefined) ||
      hooks.preSave !== undefined || ((isMerge || acts) && scopes.length > 0),
    NOT_FOUND: item || levels.length > 1 || route.path.includes(":"),
    CONFLICT: acts || affects ||
      changes && (isBound(route) || link !== undefined) ||
      (isMerge && isUnique()),
    PRECONDITION_FAILED: isBound(route),
    // With `atomic: false`, the error of an entity that is too large is part of a 207.
    PAYLOAD_TOO_LARGE: isMerge && (operation !== "updateAll" || writes?.atomic),
    UNSUPPORTED_MEDIA_TYPE: isMerge || action?.body !== undefined,
    PRECONDITION_REQUIRED: changes && isBound(route) && ifMatch === true,
    INTERNAL: true,
    UNAVAILABLE: true,
  };
  const codes = (Object.keys(STATUS_OF) as ErrorCode[]).filter((code) =>
    isPossible[code] || options.description.errors.includes(code) || bytes?.errors?.includes(code)
  );
  return [...new Set(codes.map((code) => STATUS_OF[code]))].map((status) => ({
    status,
    codes: codes.filter((code) => STATUS_OF[code] === status),
  }));
}
