import type { ParameterDescription, RouteNode } from "../http/routes/describe_routes.ts";
import { describeResponses } from "./responses.ts";
import type { Components } from "./schemas/components.ts";

/** Describes the operation of a route. */
export function describeOperation(route: RouteNode, components: Components): object {
  const { body, operation, model, parameters } = route;
  return {
    operationId: operationId(route),
    tags: [model],
    summary: `${operation} ${model}`,
    parameters: parameters.map(describeParameter),
    ...body && {
      requestBody: {
        required: true,
        content: {
          "application/json": { schema: components.refer(body) },
        },
      },
    },
    responses: describeResponses(route, components),
  };
}

/** The path and the operation: no two routes have both. */
function operationId({ path, operation }: RouteNode): string {
  const words = path.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  return [operation, ...words].join("_");
}

function describeParameter(parameter: ParameterDescription): object {
  const { name, required } = parameter;
  const place = { name, in: parameter.in, required };
  if (name === "q" && parameter.in === "query") {
    return { ...place, content: { "application/json": { schema: { type: "object" } } } };
  }
  return { ...place, schema: parameterSchema(parameter) };
}

function parameterSchema({ name, default: given, maximum }: ParameterDescription): object {
  switch (name) {
    case "limit":
      return { type: "integer", minimum: 1, maximum, default: given };
    case "skip":
      return { type: "integer", minimum: 0 };
    default:
      return { type: "string" };
  }
}
