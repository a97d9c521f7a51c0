import type { ValueNode } from "../../../describe/describe_object.ts";
import {
  STRICT_DATE,
  STRICT_DATE_TIME,
  STRICT_TYPES,
} from "../../../schema/fields/strict_types.ts";
import { unknownType } from "../answer_value.ts";
import type { Components } from "../components.ts";
import type { JsonSchema } from "../json_schema.ts";
import { describeStrictNumber, SAFE } from "./numbers.ts";
import { dateBounds } from "./others.ts";
import { describeStrictString } from "./strings.ts";

const TYPES: Readonly<Record<string, (node: ValueNode) => JsonSchema>> = {
  String: describeStrictString,
  Number: describeStrictNumber,
  Double: describeStrictNumber,
  Int32: describeStrictNumber,
  Boolean: () => ({ type: "boolean" }),
  Date: () => ({
    anyOf: [
      { type: "string", format: "date-time", pattern: `^${STRICT_DATE_TIME}$` },
      { type: "string", format: "date", pattern: `^${STRICT_DATE}$` },
    ],
  }),
  DateOnly: (node) => ({
    type: "string",
    format: "date",
    pattern: patternOf(node.type),
    description: ["A date without a time", ...dateBounds(node)].join(", "),
  }),
  BigInt: ({ type }) => ({
    anyOf: [{ type: "integer", ...SAFE }, { type: "string", pattern: patternOf(type) }],
  }),
  Decimal128: ({ type }) => ({
    anyOf: [{ type: "number", ...SAFE }, { type: "string", pattern: patternOf(type) }],
  }),
  ObjectId: ({ type }) => ({ type: "string", pattern: patternOf(type) }),
  UUID: ({ type }) => ({ type: "string", format: "uuid", pattern: patternOf(type) }),
  Buffer: ({ type, nullable }) => ({
    type: "string",
    contentEncoding: "base64",
    pattern: patternOf(type),
    ...!nullable && { minLength: 1 },
  }),
};

const SHARED: Readonly<Record<string, string>> = {
  Date: "A date or a date-time of RFC 3339, without leap seconds",
  BigInt: "An integer of 64 bits, as a text where a number of JSON does not hold it exactly",
  Decimal128: "A decimal number, as a text where a number of JSON does not hold it exactly",
};

/** A setter may change a value before its constraints are checked. */
export function strictValue(node: ValueNode, components: Components): JsonSchema {
  const { type, opaque } = node;
  const describe = TYPES[type];
  if (describe === undefined) return unknownType(type);
  const checked = opaque ? { ...node, constraints: {}, filled: false, reworked: [] } : node;
  const description = SHARED[type];
  if (description === undefined) return describe(checked);
  const schema = components.add(`strict ${type}`, {
    name: `${type}Value`,
    describe: () => ({ description, ...describe(node) }),
  });
  const bounds = type === "Date" ? dateBounds(checked).join(", ") : "";
  return bounds === "" ? schema : { ...schema, description: bounds };
}

function patternOf(type: string): string {
  return `^(${STRICT_TYPES[type]?.pattern})$`;
}
