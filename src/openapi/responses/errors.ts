import type { ErrorCode } from "../../errors/refusals.ts";
import type { ErrorDescription } from "../../describe/describe_route.ts";
import type { ObjectNode } from "../../describe/describe_object.ts";
import type { RouteNode } from "../route_node.ts";
import { problemDetails } from "../../http/answer_error.ts";
import type { Components } from "../schemas/components.ts";
import { identifierField } from "../schemas/entity_schema.ts";
import { IDENTIFIER_SCHEMA, type JsonSchema, withSchemas } from "../schemas/json_schema.ts";
import { type ErrorExample, examplesOf, namedExamples } from "./error_examples.ts";

const MEANINGS: Readonly<Record<ErrorCode, string>> = {
  BAD_FORMAT: "a parameter, or a body, is malformed",
  BAD_DATA: "values break the rules of their fields, which `errors` names",
  FORBIDDEN: "not allowed",
  NOT_FOUND: "no such entity",
  NOT_ACCEPTABLE: "the header `Accept` names no format of the list",
  CONFLICT: "another entity has the same value, another request has changed the entity, " +
    "or the request selects too many entities or groups",
  PRECONDITION_FAILED: "the entity has changed since it was read, or exists already",
  PAYLOAD_TOO_LARGE:
    "the body is larger than allowed, or the write is larger than the database takes",
  UNSUPPORTED_MEDIA_TYPE: "the body is not JSON",
  RANGE_NOT_SATISFIABLE: "the file has none of the bytes that `Range` asks for",
  UNPROCESSABLE_ENTITY: "the key was used with another body",
  PRECONDITION_REQUIRED: "the header `If-Match` is missing",
  INTERNAL: "an unexpected error",
  UNAVAILABLE: "the database is not available, and a write may have happened; " +
    "or another request has locked what this one writes, as `reason` says",
};

const TEXT = { type: "string" };

const DETAILS: JsonSchema = {
  code: { ...TEXT, description: "The kind of the error, for programs" },
  errors: {
    type: "object",
    description: "The problem of each field",
    additionalProperties: {
      type: "object",
      properties: { message: TEXT, kind: TEXT },
      required: ["message", "kind"],
    },
  },
  fields: { type: "array", items: TEXT, description: "The fields whose values another entity has" },
  field: { ...TEXT, description: "The path in a filter" },
  operator: { ...TEXT, description: "The operator in a filter" },
  parameter: { ...TEXT, description: "The parameter of the URL" },
  allowed: { ...TEXT, description: "The values that the parameter takes" },
  limit: { type: "integer", description: "The maximum number of entities or groups" },
  index: { type: "integer", description: "The index of the entity in the body" },
  reason: { ...TEXT, description: "`locked` if another request has locked the data or the key" },
};

const MESSAGE = { ...TEXT, description: "The error, for people" };

const STATUS = { type: "integer", minimum: 400, maximum: 599 };

interface ErrorContext {
  readonly route: RouteNode;
  readonly components: Components;
}

/** Hooks may send the same status with any body, so the schema then requires no `code`. */
export function describeError(
  error: ErrorDescription,
  { route, components }: ErrorContext,
): object {
  const { isHooked, facts } = route;
  const more = facts.answer.statuses[error.status];
  const words = [...error.codes.map(inOneWord), ...more ? [more.name] : []].join("Or");
  const exact = isHooked ? {} : exactly(error);
  const { examples, owner } = examplesOf(error, route);
  const name = `${owner}${words}${isHooked ? "OrOther" : ""}`;
  return components.response(name, {
    ...response(error, { components, exact, examples }),
    ...more && { headers: more.headers },
  });
}

export function describeResults(
  components: Components,
  { answer, answerSchema, facts: { answer: { results } } }: RouteNode,
): object {
  const list = () => entityResultsIn(components, answer?.object);
  const types = Object.entries(results).map(([type, schema]) =>
    [type, schema === "list" ? list() : schema] as const
  );
  if (types.length > 0) {
    return {
      description: "The result of each entity, in the order of the request",
      content: withSchemas(Object.fromEntries(types)),
    };
  }
  const failed = {
    type: "object",
    properties: { failed: list() },
    required: ["failed"],
  };
  return {
    description: "The number of changed entities, and the errors of the others",
    content: { "application/json": { schema: { allOf: [answerSchema, failed] } } },
  };
}

function entityResultsIn(components: Components, entity: ObjectNode | undefined): JsonSchema {
  const { code, errors } = DETAILS;
  const { type = "ObjectId" } = identifierField(entity) ?? {};
  const items = components.add(describeResults, {
    name: "EntityResult",
    detail: type === "ObjectId" ? "" : "other",
    describe: () => ({
      type: "object",
      description: "The result of one entity of a request",
      properties: {
        status: { type: "integer", description: "201, or the status of its error" },
        _id: type === "ObjectId"
          ? IDENTIFIER_SCHEMA
          : { type: "string", description: "As in a path" },
        code,
        message: MESSAGE,
        errors,
      },
      required: ["status"],
    }),
  });
  return { type: "array", items };
}

function inOneWord(code: string): string {
  const words = code.toLowerCase().split("_");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function exactly({ codes }: ErrorDescription): JsonSchema {
  return { properties: { code: { enum: codes } }, required: ["code", "message"] };
}

function response(
  { status, codes }: ErrorDescription,
  { components, exact, examples }: {
    readonly components: Components;
    readonly exact: JsonSchema;
    readonly examples: readonly ErrorExample[];
  },
): object {
  return {
    description: codes.map((code) => `\`${code}\`: ${MEANINGS[code as ErrorCode]}`).join(". "),
    ...status === 503 && {
      headers: {
        "Retry-After": { description: "Seconds to wait", schema: { type: "integer", minimum: 0 } },
      },
    },
    content: contentOf(components, { exact, examples }),
  };
}

/** Hooks and middleware can send errors with any status. */
export function otherErrors(components: Components): object {
  return components.response("Other", {
    description: "Another error, such as one of a hook or of a body parser",
    content: contentOf(components, { exact: {}, examples: [] }),
  });
}

function contentOf(
  components: Components,
  { exact, examples }: { readonly exact: JsonSchema; readonly examples: readonly ErrorExample[] },
): object {
  const plain = components.add(MEANINGS, {
    name: "Error",
    describe: () => ({
      type: "object",
      description: "The body of an error",
      properties: { ...DETAILS, message: MESSAGE },
    }),
  });
  const problem = components.add(STATUS, {
    name: "Problem",
    describe: () => ({
      type: "object",
      description: "The body of an error as problem details (RFC 9457)",
      properties: { type: TEXT, title: TEXT, status: STATUS, detail: TEXT, ...DETAILS },
    }),
  });
  const schema = Object.keys(exact).length === 0 ? plain : { allOf: [plain, exact] };
  return {
    "application/json": { schema, ...namedExamples(examples, ({ body }) => body) },
    "application/problem+json": { schema: problem, ...namedExamples(examples, problemDetails) },
  };
}
