import type { FilterNode, FilterValue } from "./filter_node.ts";
import type { Components } from "../components.ts";
import { FILTER_KEYS, type JsonSchema, orNull } from "../json_schema.ts";
import { type Conditions, describeOperators } from "./operators_schema.ts";
import { anyValue, comparedValue } from "./scalar_values.ts";

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
 * No reference is used: Schemathesis follows the first object schema, and nested operators would be too many for it.
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

/** Fields with the same key share a schema. The schema of an embedded object lists its fields. */
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
