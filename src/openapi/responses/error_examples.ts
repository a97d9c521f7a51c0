import type { ErrorDescription } from "../../describe/describe_route.ts";
import {
  badData,
  badFormat,
  type ErrorCode,
  forbidden,
  internal,
  misusedKey,
  noSuchBytes,
  notAcceptable,
  notFound,
  notJson,
  preconditionFailed,
  preconditionRequired,
  tooManyElements,
} from "../../errors/refusals.ts";
import type { RestError } from "../../errors/rest_error.ts";
import { answerTo } from "../../pipeline/failures.ts";
import { capitalize } from "../operation_ids.ts";
import type { RouteNode } from "../route_node.ts";
import { isOperationName } from "../../declare/operations/operation.ts";

export interface ErrorExample {
  readonly name: string;
  readonly error: RestError;
  /** Routes of other classes cannot share a response whose example names fields. */
  readonly namesFields?: boolean;
}

export function examplesOf(
  { codes }: ErrorDescription,
  route: RouteNode,
): { readonly examples: readonly ErrorExample[]; readonly owner: string } {
  const examples = codes.flatMap((code) => EXAMPLES[code as ErrorCode](route));
  const { model, operation } = route;
  const owner = isOperationName(operation) ? model : `${model}${capitalize(operation)}`;
  return { examples, owner: examples.some(({ namesFields }) => namesFields) ? owner : "" };
}

export function namedExamples(
  examples: readonly ErrorExample[],
  write: (error: RestError) => object,
): object {
  if (examples.length === 0) return {};
  const named = examples.map(({ name, error }) =>
    [name, { summary: error.message, value: write(error) }] as const
  );
  return { examples: Object.fromEntries(named) };
}

const EXAMPLES: Readonly<Record<ErrorCode, (route: RouteNode) => readonly ErrorExample[]>> = {
  BAD_FORMAT: ({ body, filter, facts, isQuery }) => {
    if (body !== undefined && facts.body.maxItems === undefined) {
      return [{ name: "body", error: badFormat("The body is not a JSON object") }];
    }
    if (filter === undefined || isQuery) return [];
    return [{ name: "filter", error: badFormat(`Parameter "q" is not JSON`) }];
  },
  BAD_DATA: ({ needed }) => {
    if (needed === undefined) return [];
    const problem = { message: `Path \`${needed}\` is required.`, kind: "required" };
    return [{ name: "data", error: badData({ [needed]: problem }), namesFields: true }];
  },
  CONFLICT: (route) => {
    const { method, isOfMany, unique, body, property, headers, facts } = route;
    if (method === "GET") return [];
    if (isOfMany) return [{ name: "limit", error: answerTo({ kind: "tooMany", limit: SOME }) }];
    const isBound = headers.some(({ name }) => name === "If-Match");
    const isSingle = property?.isSingle === true && method === "POST";
    const isUnique = unique !== undefined && body !== undefined &&
      facts.body.maxItems === undefined;
    return [
      ...isBound ? [{ name: "changed", error: answerTo({ kind: "changed" }) }] : [],
      ...isSingle ? [{ name: "occupied", error: answerTo({ kind: "occupied" }) }] : [],
      ...isUnique
        ? [{
          name: "value",
          error: answerTo({ kind: "duplicate", fields: unique }),
          namesFields: true,
        }]
        : [],
    ];
  },
  FORBIDDEN: () => [{ name: "forbidden", error: forbidden() }],
  NOT_FOUND: () => [{ name: "missing", error: notFound() }],
  NOT_ACCEPTABLE: ({ facts }) => {
    const offered = ["application/json", ...Object.keys(facts.answer.content)];
    return [{ name: "type", error: notAcceptable(offered) }];
  },
  PRECONDITION_FAILED: () => [{ name: "changed", error: preconditionFailed() }],
  PAYLOAD_TOO_LARGE: ({ facts: { body: { maxItems } }, isOfMany, bytes }) => {
    if (bytes !== undefined) return [];
    if (maxItems !== undefined) return [{ name: "size", error: tooManyElements(maxItems) }];
    return [{
      name: "size",
      error: answerTo({ kind: isOfMany ? "largeTransaction" : "largeEntity" }),
    }];
  },
  UNSUPPORTED_MEDIA_TYPE: () => [{ name: "type", error: notJson() }],
  RANGE_NOT_SATISFIABLE: () => [{ name: "range", error: noSuchBytes() }],
  UNPROCESSABLE_ENTITY: () => [{ name: "key", error: misusedKey() }],
  PRECONDITION_REQUIRED: () => [{ name: "header", error: preconditionRequired() }],
  INTERNAL: () => [{ name: "internal", error: internal() }],
  UNAVAILABLE: () => [{ name: "away", error: answerTo({ kind: "away", reason: "outage" }) }],
};

const SOME = 10;
