import type { RouteNode } from "../http/routes/describe_routes.ts";
import type { Components } from "./schemas/components.ts";

/** Describes what a route answers, by status. */
export function describeResponses(
  { answer, status, many }: RouteNode,
  components: Components,
): Record<string, object> {
  const error = { $ref: "#/components/responses/Error" };
  if (answer === undefined) return { [status]: { description: "Done" }, default: error };
  const entity = components.refer(answer);
  const schema = many ? { type: "array", items: entity } : entity;
  return {
    [status]: { description: "The answer", content: { "application/json": { schema } } },
    default: error,
  };
}

/** The answer to a request that fails. */
export function errorResponse(): object {
  return {
    description: "An error",
    content: {
      "application/json": {
        schema: {
          type: "object",
          properties: { code: { type: "string" }, message: { type: "string" } },
        },
      },
    },
  };
}
