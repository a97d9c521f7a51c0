import type { ObjectNode, ValueNode } from "../../describe/describe_object.ts";
import { isJson } from "../../schema/fields/json.ts";
import { IDENTIFIER_SCHEMA, type JsonSchema, orNull } from "./json_schema.ts";

const SAFE = Number.MAX_SAFE_INTEGER;

const SCALARS: Readonly<Record<string, JsonSchema>> = {
  String: { type: "string" },
  Number: { type: "number" },
  Double: { type: "number" },
  Int32: { type: "integer" },
  Boolean: { type: "boolean" },
  Date: { type: "string", format: "date-time" },
  DateOnly: { type: "string", format: "date" },
  BigInt: {
    anyOf: [
      { type: "integer", minimum: -SAFE - 1, maximum: SAFE + 1 },
      {
        type: "string",
        pattern: "^-?[0-9]{16,19}$",
        description: "An integer that a number of JSON does not hold exactly",
      },
    ],
  },
  Buffer: { type: "string", contentEncoding: "base64" },
  ObjectId: IDENTIFIER_SCHEMA,
  Decimal128: { type: "string", description: "A decimal number" },
  UUID: { type: "string", format: "uuid" },
};

export interface AnswerObjects {
  object(node: ObjectNode): JsonSchema;
  /** Hooks may have changed the entity, so every field may be `null`. */
  readonly isHooked?: boolean;
}

export function answerValue(node: ValueNode, objects: AnswerObjects): JsonSchema {
  const schema = node.opaque ? {} : valueSchema(node, objects);
  return node.nullable || objects.isHooked ? orNull(schema) : schema;
}

function valueSchema(node: ValueNode, objects: AnswerObjects): JsonSchema {
  const { type, object, items, constraints } = node;
  if (object !== undefined) return objects.object(object);
  const inner = items === undefined ? {} : answerValue(items, objects);
  if (type === "Array") return { type: "array", items: inner };
  if (type === "Map") return { type: "object", additionalProperties: inner };
  const schema = SCALARS[type] ?? unknownType(type);
  const isListed = constraints.enum !== undefined && isJson(constraints.enum);
  return isListed ? { ...schema, enum: constraints.enum?.filter((each) => each !== null) } : schema;
}

/** JSON Schema cannot express custom types of Mongoose, so any value is allowed. */
export function unknownType(type: string): JsonSchema {
  return type === "Object" ? {} : { description: `A value of the type ${type}` };
}
