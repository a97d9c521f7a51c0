import { STATUS_OF } from "../../errors/refusals.ts";
import type { ErrorCode } from "../../errors/refusals.ts";
import { actingLevel } from "../../pipeline/request/route.ts";
import type { Route } from "../../pipeline/request/route.ts";
import { buildSchema } from "../../schema/build_schema.ts";
import type { ErrorDescription } from "./describe_route.ts";

/** Whether a route is bound to the version of one entity. */
export function isBound({ operation: { change, origin } }: Route): boolean {
  return change !== undefined && (origin === "byId" || origin === "byKey");
}

/** Describes the errors that a route may answer, by status. */
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
