import type { FilterNode, FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import {
  FILTER_KEYS,
  GIVEN_IDENTIFIER,
  JSON_SCALARS,
  type JsonSchema,
  oneOf,
  orNull,
} from "../json_schema.ts";
import type { ValueNode } from "../../../describe/describe_object.ts";
import { scalarValue } from "../bodies/body_value.ts";

export function describeCondition(value: FilterValue, components: Components): JsonSchema {
  return components.add(conditionKey(value), {
    name: `${nameOf(value)}Condition`,
    detail: "condition",
    describe: () => {
      const operators = refersTo(value, components);
      if (!value.isComparable) return operators;
      return { anyOf: [...choicesOf(value, components), operators] };
    },
  });
}

/**
 * Values come before operators, and inline instead of as a reference: the test tool Schemathesis follows the first
 * object schema, and nested operators would be too many for it.
 */
function choicesOf(value: FilterValue, components: Components): readonly JsonSchema[] {
  const { kind, element } = value;
  if (kind === "array" && element !== undefined) {
    const list = { type: "array", items: refersToOperand(element, components) };
    return [...choicesOf(element, components), list];
  }
  const operand = describeOperand(value, components);
  return Array.isArray(operand.anyOf) ? operand.anyOf : [operand];
}

function refersTo(value: FilterValue, components: Components): JsonSchema {
  return components.add(conditionKey(value), {
    name: `${nameOf(value)}Operators`,
    detail: "operators",
    describe: () => describeOperators(value, { components, conditions: CONDITIONS }),
  });
}

const CONDITIONS: Conditions = { operators: refersTo, operand: refersToOperand };

/** An operand may be `null`, which matches missing fields. */
function refersToOperand(value: FilterValue, components: Components): JsonSchema {
  return components.add(conditionKey(value), {
    name: value.kind === "free" ? "AnyValue" : `${nameOf(value)}Operand`,
    detail: "operand",
    describe: () => describeOperand(value, components),
  });
}

function describeOperand(value: FilterValue, components: Components): JsonSchema {
  const { kind, type, element, object } = value;
  if (kind === "scalar") return orNull(comparedValue(type, components));
  if (object !== undefined) return orNull(describeWhole(object, components));
  if (element === undefined) return anyValue(components);
  const inner = refersToOperand(element, components);
  return kind === "map"
    ? orNull({ type: "object", propertyNames: FILTER_KEYS, additionalProperties: inner })
    : { anyOf: [inner, { type: "array", items: inner }] };
}

function describeWhole({ fields }: FilterNode, components: Components): JsonSchema {
  return {
    type: "object",
    properties: Object.fromEntries(
      [...fields].map(([name, each]) => [name, refersToOperand(each, components)]),
    ),
    additionalProperties: false,
  };
}

/** Fields with the same key share a schema. An embedded object is its own key, because its schema lists its fields. */
function conditionKey(value: FilterValue): unknown {
  const { kind, type, operators, element, object } = value;
  if (object !== undefined) return object;
  if (kind === "scalar") return `${type} ${operators.length}`;
  if (kind === "free") return `free ${operators.length}`;
  if (kind !== "array" || element === undefined) return value;
  const inner = conditionKey(element);
  return typeof inner === "string" ? `array of ${inner} ${operators.length}` : value;
}

function nameOf({ kind, type, object, element }: FilterValue): string {
  switch (kind) {
    case "scalar":
      return type;
    case "free":
      return "AnyJson";
    case "array":
      return `${element === undefined ? "AnyJson" : nameOf(element)}List`;
    case "map":
      return `${element === undefined ? "AnyJson" : nameOf(element)}Map`;
    default:
      return object?.model ?? "Object";
  }
}

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

function comparedValue(type: string, components: Components): JsonSchema {
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

function anyValue(components: Components): JsonSchema {
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

/** Passed as arguments, because an import would be circular. */
interface Conditions {
  readonly operators: (value: FilterValue, components: Components) => JsonSchema;
  readonly operand: (value: FilterValue, components: Components) => JsonSchema;
}

interface OperatorsContext {
  readonly components: Components;
  readonly conditions: Conditions;
}

function describeOperators(value: FilterValue, context: OperatorsContext): JsonSchema {
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
