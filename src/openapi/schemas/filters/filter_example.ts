import {
  constraintsOf,
  hasOwnCast,
  hasOwnSetters,
} from "../../../schema/mongoose/schemas/field_rules.ts";
import { typeName } from "../../../describe/describe_object.ts";
import type { FieldShape } from "../../../schema/fields/shape.ts";
import type { FilterNode, FilterValue } from "./filter_node.ts";

export interface ExampleCondition {
  readonly condition: unknown;
  /** An example of equality has no operator. */
  readonly operator?: string;
}

const NUMBERS: ReadonlySet<string> = new Set(["Number", "Int32", "Double", "BigInt"]);

/** No entity has this identifier, so writes with it change nothing. */
const NO_IDENTIFIER = "0".repeat(24);

/** Returns `undefined` if the application casts the values, or no stored value can be guessed. */
export function exampleCondition(field: FieldShape): ExampleCondition | undefined {
  const { kind, type } = field;
  if (kind !== "scalar" || type === undefined || hasOwnCast(type) || hasOwnSetters(type)) {
    return undefined;
  }
  const name = typeName(field);
  const { enum: [choice] = [], minimum } = constraintsOf(type);
  if (typeof choice === "string" || typeof choice === "number") return { condition: choice };
  if (NUMBERS.has(name)) return { operator: "$gte", condition: { $gte: minimum ?? 0 } };
  if (name === "Date") return { operator: "$gte", condition: { $gte: "2020-01-01T00:00:00.000Z" } };
  if (name === "DateOnly") return { operator: "$gte", condition: { $gte: "2020-01-01" } };
  if (name === "String") {
    return { operator: "$regex", condition: { $regex: "e", $options: "i" } };
  }
  if (name === "Boolean") return { condition: true };
  return undefined;
}

export function filterExample(node: FilterNode, { selectsNothing = false } = {}): object {
  const id = node.fields.get("_id");
  if (selectsNothing) {
    return id?.type === "ObjectId" && id.isComparable ? { _id: NO_IDENTIFIER } : { $nor: [{}] };
  }
  const [path, condition] = findCondition(node, MOST_LEVELS) ?? [];
  return path === undefined ? {} : { [path]: condition };
}

const MOST_LEVELS = 3;

function findCondition(
  { fields }: FilterNode,
  levels: number,
): readonly [path: string, condition: unknown] | undefined {
  const own = [...fields].filter(([name, value]) => !name.startsWith("_") && isAllowed(value));
  const rankOf = ([, { example }]: (typeof own)[number]) => RANKS.indexOf(example?.operator);
  const [first] = own.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (first !== undefined) return [first[0], first[1].example?.condition];
  for (const [name, { object, element = { object }, isForAll }] of levels > 1 ? fields : []) {
    const found = isForAll && element.object && findCondition(element.object, levels - 1);
    if (found) return [`${name}.${found[0]}`, found[1]];
  }
  return undefined;
}

/**
 * The preferred examples, best first. A comparison teaches more than a plain value (`undefined`), and selects more
 * entities than a regular expression.
 */
const RANKS: readonly (string | undefined)[] = ["$gte", undefined, "$regex"];

function isAllowed({ example, operators, isComparable }: FilterValue): boolean {
  if (example === undefined) return false;
  return example.operator === undefined ? isComparable : operators.includes(example.operator);
}
