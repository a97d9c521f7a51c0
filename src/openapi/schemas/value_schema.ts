import type { ValueNode } from "../../schema/describe/object_node.ts";
import type { Components, JsonSchema } from "./components.ts";

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  String: { type: "string" },
  Number: { type: "number" },
  Int32: { type: "integer" },
  Double: { type: "number" },
  Boolean: { type: "boolean" },
  Date: { type: "string", format: "date-time" },
  BigInt: { anyOf: [{ type: "integer" }, { type: "string", pattern: "^-?[0-9]+$" }] },
  Buffer: { type: "string", contentEncoding: "base64" },
  ObjectId: { type: "string", pattern: "^[0-9a-f]{24}$" },
  Decimal128: { type: "string" },
  UUID: { type: "string", format: "uuid" },
};

/** Describes a value of a body or an answer. */
export function describeValue(
  { type, object, items }: ValueNode,
  components: Components,
): JsonSchema {
  if (object !== undefined) return components.refer(object);
  const inner = items === undefined ? {} : describeValue(items, components);
  if (type === "Array") return { type: "array", items: inner };
  if (type === "Map") return { type: "object", additionalProperties: inner };
  return SCALARS[type] ?? {};
}
