import type { ValueNode } from "../../../describe/describe_object.ts";
import { formatDate } from "../../../describe/describe_constraints.ts";
import { GIVEN_IDENTIFIER, type JsonSchema, oneOf } from "../json_schema.ts";
import { SAFE } from "./numbers.ts";

/** The range of a `Date`, in milliseconds since 1970. */
const TIMES = { minimum: -8.64e15, maximum: 8.64e15 };

const DECIMAL =
  "^[+-]?(Infinity|NaN|[0-9]{1,34}|[0-9]{1,17}\\.[0-9]{0,17}|\\.[0-9]{1,34})([eE][+-]?[0-9]{1,3})?$";

const TYPES: Readonly<Record<string, (node: ValueNode) => JsonSchema>> = {
  Boolean: () => oneOf([true, false, 1, 0, "1", "0", "true", "false", "yes", "no"]),
  Date: describeDate,
  DateOnly: describeDay,
  Buffer: ({ nullable }) => ({
    type: "string",
    contentEncoding: "base64",
    pattern: "^([0-9a-zA-Z+/]{4})*([0-9a-zA-Z+/]{2,3})?={0,2}$",
    ...!nullable && { minLength: 2 },
  }),
  ObjectId: () => GIVEN_IDENTIFIER,
  Decimal128: () => ({
    anyOf: [
      { type: "string", pattern: DECIMAL },
      { type: "number", ...SAFE },
      {
        type: "object",
        properties: { $numberDecimal: { type: "string", pattern: DECIMAL } },
        required: ["$numberDecimal"],
        additionalProperties: false,
      },
    ],
  }),
  UUID: () => ({
    type: "string",
    format: "uuid",
    pattern: "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
  }),
};

export function describeOther(node: ValueNode): JsonSchema | undefined {
  return TYPES[node.type]?.(node);
}

/** JSON Schema cannot express bounds of dates, so descriptions name them. */
export function dateBounds(
  { type, constraints: { minimum, maximum } }: ValueNode,
): readonly string[] {
  return [
    ...minimum === undefined ? [] : [`not before ${formatDate(new Date(minimum), type)}`],
    ...maximum === undefined ? [] : [`not after ${formatDate(new Date(maximum), type)}`],
  ];
}

function describeDate(node: ValueNode): JsonSchema {
  const { nullable } = node;
  const hint = ["A date, or milliseconds since 1970", ...dateBounds(node)].join(", ");
  return {
    anyOf: [
      { type: "string", format: "date-time" },
      { type: "number", ...TIMES },
      ...nullable ? [{ type: "string", const: "" }] : [],
    ],
    description: hint,
  };
}

function describeDay(node: ValueNode): JsonSchema {
  const description = ["A date without a time", ...dateBounds(node)].join(", ");
  const day = { type: "string", format: "date" };
  return node.nullable
    ? { anyOf: [day, { type: "string", const: "" }], description }
    : { ...day, description };
}
