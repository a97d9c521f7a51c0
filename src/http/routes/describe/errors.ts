import { actingLevel } from "../../../pipeline/request/route.ts";
import type { Route } from "../../../pipeline/request/route.ts";
import { STATUS_OF } from "../../../errors/refusals.ts";
import type { ErrorCode } from "../../../errors/refusals.ts";
import { buildSchema } from "../../../schema/build_schema.ts";
import type { ErrorDescription } from "./description.ts";

export function describeErrors(route: Route): ErrorDescription[] {
  const { operation: { change, item } } = route;
  const { operation, concurrency, link } = actingLevel(route);
  const removesRequired = change === "remove" && link?.required === true && !link.array;
  const isMerge = change === "merge";
  const changesOne = item && change !== undefined || operation === "update" ||
    operation === "remove";
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
