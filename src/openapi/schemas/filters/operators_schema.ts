import type { FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import { type JsonSchema, oneOf } from "../json_schema.ts";

const TYPES = [
  ...["double", "string", "object", "array", "binData", "objectId", "bool", "date", "null"],
  ...["regex", "int", "timestamp", "long", "decimal", "number"],
  ...[1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 16, 17, 18, 19],
];

/** JavaScript may round larger integers. */
const MOST = 2 ** 53;

const PLACE = { anyOf: [{ type: "object" }, { type: "array", items: {} }] } as const;

const OPERANDS: Readonly<Record<string, JsonSchema>> = {
  $exists: oneOf([true, false, 1, 0]),
  $size: { type: "integer", minimum: 0, maximum: 2 ** 31 - 1 },
  $mod: {
    type: "array",
    prefixItems: [
      {
        anyOf: [
          { type: "number", minimum: 1, maximum: MOST },
          { type: "number", minimum: -MOST, maximum: -1 },
        ],
        description: "The divisor",
      },
      { type: "number", minimum: -MOST, maximum: MOST, description: "The remainder" },
    ],
    items: { type: "number" },
    minItems: 2,
    maxItems: 2,
  },
  $options: { type: "string", pattern: "^[imsx]{0,4}$" },
  $geoWithin: { type: "object" },
  $geoIntersects: { type: "object" },
  $near: PLACE,
  $nearSphere: PLACE,
  $minDistance: { type: "number", minimum: 0 },
  $maxDistance: { type: "number", minimum: 0 },
};

const EXPRESSION = {
  type: "string",
  format: "regex",
  pattern: "^[^\\u0000]*$",
  description: "A regular expression of PCRE",
} as const;

const LISTS = new Set(["$in", "$nin", "$all"]);

/** They are arguments, because their module imports this module. */
export interface Conditions {
  readonly operators: (value: FilterValue, components: Components) => JsonSchema;
  readonly operand: (value: FilterValue, components: Components) => JsonSchema;
}

interface OperatorsContext {
  readonly components: Components;
  readonly conditions: Conditions;
}

export function describeOperators(value: FilterValue, context: OperatorsContext): JsonSchema {
  const { operators } = value;
  const near = ["$near", "$nearSphere"].map((name) => ({ required: [name] }));
  return {
    type: "object",
    properties: Object.fromEntries(
      operators.map((name) => [name, describeOne(name, { value, ...context })]),
    ),
    minProperties: 1,
    additionalProperties: false,
    ...operators.includes("$options") && { dependentRequired: { $options: ["$regex"] } },
    ...operators.includes("$near") && {
      dependentSchemas: { $minDistance: { anyOf: near }, $maxDistance: { anyOf: near } },
    },
  };
}

interface Operated extends OperatorsContext {
  readonly value: FilterValue;
}

function describeOne(name: string, operated: Operated): JsonSchema {
  const { value, components, conditions } = operated;
  if (name === "$not") return conditions.operators(value, components);
  if (name === "$elemMatch") return describeElement(operated);
  if (name === "$type") return describeTypes(components);
  const { maxList, maxRegex } = components.limits;
  if (name === "$regex") return { ...EXPRESSION, maxLength: maxRegex };
  const operand = OPERANDS[name];
  if (operand !== undefined) return operand;
  const one = conditions.operand(value, components);
  return LISTS.has(name) ? { type: "array", items: one, maxItems: maxList } : one;
}

function describeTypes(components: Components): JsonSchema {
  const type = components.add(TYPES, {
    name: "StoredType",
    describe: () => ({ description: "A type of the database", ...oneOf(TYPES) }),
  });
  return { anyOf: [type, { type: "array", minItems: 1, items: type }] };
}

function describeElement({ value: { element }, components, conditions }: Operated): JsonSchema {
  if (element === undefined) return { type: "object" };
  if (element.operators.length === 0 && element.object !== undefined) {
    return components.filter(element.object);
  }
  const operators = conditions.operators(element, components);
  if (element.object === undefined) return operators;
  return { anyOf: [components.filter(element.object), operators] };
}
