import type { ObjectNode } from "../../schema/describe/object_node.ts";
import type { Components, JsonSchema } from "./components.ts";
import { describeValue } from "./value_schema.ts";

/** Describes an object by its fields. */
export function describeObject({ fields }: ObjectNode, components: Components): JsonSchema {
  const required = fields.filter((field) => field.required).map(({ name }) => name);
  return {
    type: "object",
    properties: Object.fromEntries(
      fields.map((field) => [field.name, describeValue(field, components)]),
    ),
    ...required.length > 0 && { required },
  };
}
