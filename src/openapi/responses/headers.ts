import type { RouteNode } from "../route_node.ts";

interface Header {
  readonly description: string;
  readonly schema: object;
}

const TEXT = { type: "string" };

const APPLIED: Header = { description: "The part of `Prefer` that was done", schema: TEXT };

export function headersOf(route: RouteNode): Record<string, Header> {
  const { operation, parameters, answer, headers } = route;
  const applied = headers.some(({ name }) => name === "Prefer") &&
    { "Preference-Applied": APPLIED };
  if (answer?.object.view !== "answer") return { ...applied };
  const named = (name: string) =>
    parameters.some((each) => each.in === "query" && each.name === name);
  const isPaged = operation === "all" && named("limit") && named("after");
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
    ...isPaged && {
      Link: { description: "The URLs of other pages, by `rel`: next, prev, first", schema: TEXT },
    },
    ...route.isCounted && COUNT_HEADERS,
    ...applied,
  };
}

const COUNT_HEADERS: Record<string, Header> = {
  "X-Total-Count": {
    description: "How many entities the list has, if that is counted",
    schema: { type: "integer", minimum: 0 },
  },
  "Content-Range": {
    description: "The place of the page, such as `items 0-19/319`",
    schema: { type: "string", pattern: "^items (\\*|[0-9]+-[0-9]+)/(\\*|[0-9]+)$" },
  },
};
