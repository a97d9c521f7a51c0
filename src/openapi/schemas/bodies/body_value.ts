import type { ValueNode } from "../../../describe/describe_object.ts";
import { unknownType } from "../answer_value.ts";
import type { Components } from "../components.ts";
import { JSON_SCALARS, type JsonSchema, KEYS, orNull } from "../json_schema.ts";
import { describeNumber, describeStrictNumber, SAFE } from "./numbers.ts";
import { dateBounds, describeOther } from "./others.ts";
import { describeStrictString, describeString } from "./strings.ts";
import {
  STRICT_DATE,
  STRICT_DATE_TIME,
  STRICT_TYPES,
} from "../../../schema/fields/strict_types.ts";

export function bodyValue(node: ValueNode, components: Components): JsonSchema {
  if (node.opaque && (!components.isStrict || node.isCast)) return DECIDED;
  if (node.type === "Object") return freeForm(node, components);
  const schema = valueSchema(node, components);
  return node.nullable ? orNull(schema) : schema;
}

const DECIDED: JsonSchema = { description: "The application decides what it may be" };

function valueSchema(node: ValueNode, components: Components): JsonSchema {
  const { type, object, items } = node;
  if (object !== undefined) return components.object(object);
  const inner = items === undefined ? {} : bodyValue(items, components);
  if (type === "Array") return { type: "array", items: inner };
  if (type === "Map") return { type: "object", propertyNames: KEYS, additionalProperties: inner };
  return components.isStrict ? strictValue(node, components) : scalarValue(node, components);
}

export function scalarValue(node: ValueNode, components: Components): JsonSchema {
  const { type, constraints, filled, nullable } = node;
  const own = describeScalar(node);
  if (own === undefined) return unknownType(type);
  if (Object.keys(constraints).length > 0) return own;
  const shared = { ...node, filled: false, nullable: true };
  const schema = components.add(`input ${type}`, {
    name: `${type}Input`,
    describe: () => ({
      description: READ[type] ?? `A value of ${type}`,
      ...describeScalar(shared),
    }),
  });
  const { minLength, pattern } = textOf(own);
  return {
    ...schema,
    ...minLength !== undefined && { minLength },
    ...filled && pattern !== undefined && { pattern },
    ...!nullable && DATES.has(type) && { not: { const: "" } },
  };
}

const DATES: ReadonlySet<string> = new Set(["Date", "DateOnly"]);

function textOf(schema: JsonSchema): JsonSchema {
  const choices = Array.isArray(schema.anyOf) ? schema.anyOf as JsonSchema[] : [schema];
  return choices.find(({ type }) => type === "string") ?? {};
}

function describeScalar(node: ValueNode): JsonSchema | undefined {
  return node.type === "String"
    ? describeString(node)
    : describeNumber(node) ?? describeOther(node);
}

const READ: Readonly<Record<string, string>> = {
  String: "A text. Numbers and booleans are read as their text",
  Number:
    "A number. Texts and booleans are read as the number that they say, an empty text as null",
  Double:
    "A number. Texts and booleans are read as the number that they say, an empty text as null",
  Int32:
    "An integer. Texts and booleans are read as the number that they say, an empty text as null",
  BigInt: "An integer of 64 bits, as a text where a number of JSON does not hold it exactly",
  Boolean: "A boolean, or a word or number for one",
  Date: "A date, or milliseconds since 1970. An empty text is read as null",
  DateOnly: "A date without a time. An empty text is read as null",
  Buffer: "Bytes in base64",
  ObjectId: "An identifier",
  Decimal128: "A decimal number, as a text where a number of JSON does not hold it exactly",
  UUID: "A UUID",
};

function freeForm({ nullable }: ValueNode, components: Components): JsonSchema {
  const any = anyJson(components);
  return nullable ? any : { ...any, not: { type: "null" } };
}

function anyJson(components: Components): JsonSchema {
  return components.add("AnyJson", {
    name: "AnyJson",
    describe: () => ({
      description: "Any JSON. No key is empty, contains a dot or starts with $",
      anyOf: [
        ...JSON_SCALARS,
        { type: "array", items: anyJson(components) },
        { type: "object", propertyNames: KEYS, additionalProperties: anyJson(components) },
      ],
    }),
  });
}

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

/** A setter may change a value before its constraints are checked, so the schema has none. */
function strictValue(node: ValueNode, components: Components): JsonSchema {
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
