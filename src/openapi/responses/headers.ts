import type { RouteNode } from "../route_node.ts";

interface Header {
  readonly description: string;
  readonly schema: object;
}

const TEXT = { type: "string" };

const APPLIED: Header = {
  description: "The preferences of `Prefer` that the server has applied",
  schema: TEXT,
};

export function headersOf(route: RouteNode): Record<string, Header> {
  const { operation, answer, headers, facts, answerHeaders } = route;
  const applied = headers.some(({ name }) => name === "Prefer") &&
    { "Preference-Applied": APPLIED };
  if (answer?.object.view !== "answer") return { ...answerHeaders, ...applied };
  return {
    ETag: {
      description: operation === "all"
        ? "The version of the list, for `If-None-Match`. Long lists have none"
        : "The version of the entity, for `If-Match`",
      schema: TEXT,
    },
    ...["create", "replace"].includes(operation) && {
      Location: { description: "The path of the entity", schema: TEXT },
    },
    ...facts.answer.headers,
    ...applied,
  };
}
