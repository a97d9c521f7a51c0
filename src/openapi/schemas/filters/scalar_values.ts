import type { ValueNode } from "../../../describe/describe_object.ts";
import { scalarValue } from "../bodies/body_value.ts";
import type { Components } from "../components.ts";
import { FILTER_KEYS, GIVEN_IDENTIFIER, JSON_SCALARS, type JsonSchema } from "../json_schema.ts";

/** Values that plain JSON cannot express. */
const EXTENDED: Readonly<Record<string, readonly (readonly [string, JsonSchema])[]>> = {
  String: [["$oid", GIVEN_IDENTIFIER]],
  ObjectId: [["$oid", GIVEN_IDENTIFIER]],
  Date: [["$date", { type: "string", format: "date-time" }]],
  DateOnly: [["$date", { type: "string", format: "date" }]],
  BigInt: [["$numberLong", { type: "string", pattern: "^-?[0-9]{1,18}$" }]],
  Number: [
    ["$numberInt", { type: "string", pattern: "^-?[0-9]{1,9}$" }],
    ["$numberDouble", { type: "string", pattern: "^-?[0-9]{1,15}(\\.[0-9]{1,15})?$" }],
  ],
};

export function comparedValue(type: string, components: Components): JsonSchema {
  const node: ValueNode = {
    type,
    constraints: {},
    nullable: true,
    filled: false,
    reworked: [],
    opaque: false,
    isCast: false,
  };
  const extended = (EXTENDED[type] ?? []).map(extendedJson);
  const plain = scalarValue(node, components);
  return extended.length === 0 ? plain : { anyOf: [plain, ...extended] };
}

function extendedJson([name, value]: readonly [string, JsonSchema]): JsonSchema {
  return {
    type: "object",
    properties: { [name]: value },
    required: [name],
    additionalProperties: false,
  };
}

export function anyValue(components: Components): JsonSchema {
  return components.add("any value", {
    name: "AnyOperand",
    describe: () => ({
      description: "Any JSON. No key starts with $, except those of extended JSON",
      anyOf: [
        ...JSON_SCALARS,
        { type: "array", items: anyValue(components) },
        {
          type: "object",
          propertyNames: FILTER_KEYS,
          additionalProperties: anyValue(components),
        },
        ...[...new Map(Object.values(EXTENDED).flat())].map(extendedJson),
      ],
    }),
  });
}
