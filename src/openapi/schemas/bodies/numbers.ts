import type { ValueNode } from "../../../describe/describe_object.ts";
import { type JsonSchema, oneOf } from "../json_schema.ts";

/** The server refuses numbers with more than 15 integer digits, which JavaScript may round. */
const DECIMAL = "([0-9]{1,15}(\\.[0-9]*)?|\\.[0-9]+)([eE][+-]?[0-9]{1,2})?";
const OTHERS = "0[xX][0-9a-fA-F]{1,12}|0[oO][0-7]{1,15}|0[bB][01]{1,48}";

const INTEGER = "([0-9]{1,9}|0[xX][0-9a-fA-F]{1,7}|[0-9]{1,4}[eE]\\+?[0-5])";

/**
 * Patterns of strings that Mongoose casts to numbers. `positive` has no minus sign, for the minimum 0. The empty
 * string matches, because Mongoose casts it to `null`.
 */
const TEXTS: Readonly<Record<string, { readonly any: string; readonly positive: string }>> = {
  Number: {
    any: `^\\s*([+-]?${DECIMAL}|${OTHERS})?\\s*$`,
    positive: `^\\s*(\\+?${DECIMAL}|${OTHERS})?\\s*$`,
  },
  Double: { any: `^([+-]?${DECIMAL})?$`, positive: `^(\\+?${DECIMAL})?$` },
  Int32: {
    any: `^\\s*([+-]?${INTEGER})?\\s*$`,
    positive: `^\\s*(\\+?${INTEGER})?\\s*$`,
  },
};

const INT32 = { minimum: -2147483648, maximum: 2147483647 };

/** No JSON parser rounds these integers. */
export const SAFE = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };

export function describeNumber(node: ValueNode): JsonSchema | undefined {
  const { type } = node;
  if (type === "BigInt") return describeBigInt(node);
  const texts = TEXTS[type];
  if (texts === undefined) return undefined;
  const { enum: allowed, minimum, maximum } = boundsOf(node);
  const least = node.nullable ? {} : { minLength: 1 };
  const name = type === "Int32" ? "integer" : "number";
  if (allowed !== undefined) return oneOf(listed(allowed, node));
  const bounds = {
    ...minimum !== undefined && { minimum },
    ...maximum !== undefined && { maximum },
  };
  if (!isBounded(node)) {
    return {
      anyOf: [
        { type: name, ...bounds },
        { type: "boolean" },
        { type: "string", pattern: texts.any, ...least },
      ],
    };
  }
  const others = [true, false].filter((each) => isWithin(Number(each), node));
  const text = minimum === 0 && node.constraints.maximum === undefined
    ? { type: "string", pattern: texts.positive, ...least }
    : undefined;
  const values = [...others, ...text === undefined && node.nullable ? [""] : []];
  return {
    anyOf: [
      { type: name, ...bounds },
      ...text === undefined ? [] : [text],
      ...values.length === 0 ? [] : flat(oneOf(values)),
    ],
  };
}

export function describeStrictNumber(node: ValueNode): JsonSchema {
  const { enum: allowed, minimum, maximum } = boundsOf(node);
  if (allowed !== undefined) return oneOf(allowed.filter((each) => isWithin(each, node)));
  return {
    type: node.type === "Int32" ? "integer" : "number",
    ...minimum !== undefined && { minimum },
    ...maximum !== undefined && { maximum },
  };
}

function flat(schema: JsonSchema): readonly JsonSchema[] {
  return Array.isArray(schema.anyOf) ? schema.anyOf as JsonSchema[] : [schema];
}

function describeBigInt({ nullable }: ValueNode): JsonSchema {
  const pattern = "^\\s*([+-]?[0-9]{1,19}|0[xX][0-9a-fA-F]{1,15})?\\s*$";
  return {
    anyOf: [
      { type: "integer", ...SAFE },
      { type: "string", pattern, ...!nullable && { minLength: 1 } },
    ],
  };
}

interface Bounds {
  readonly enum?: readonly number[];
  readonly minimum?: number;
  readonly maximum?: number;
}

function boundsOf({ type, constraints }: ValueNode): Bounds {
  const { enum: allowed, minimum, maximum } = constraints;
  const numbers = allowed?.filter((each) => typeof each === "number");
  return {
    ...type === "Int32" && INT32,
    ...numbers !== undefined && { enum: numbers },
    ...typeof minimum === "number" && { minimum },
    ...typeof maximum === "number" && { maximum },
  };
}

function isBounded({ constraints: { minimum, maximum } }: ValueNode): boolean {
  return minimum !== undefined || maximum !== undefined;
}

function isWithin(value: number, node: ValueNode): boolean {
  const { minimum = -Infinity, maximum = Infinity } = boundsOf(node);
  return value >= minimum && value <= maximum;
}

/** Adds the strings and booleans that are cast to allowed numbers. */
function listed(allowed: readonly number[], node: ValueNode): unknown[] {
  const numbers = allowed.filter((each) => isWithin(each, node));
  const booleans = [true, false].filter((each) => numbers.includes(Number(each)));
  return [...numbers, ...numbers.map(String), ...booleans, ...node.nullable ? [""] : []];
}
