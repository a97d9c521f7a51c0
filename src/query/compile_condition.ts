import { badFormat } from "../errors/refusals.ts";
import type { FieldShape } from "../shape/shape.ts";
import { castValue } from "./cast_value.ts";
import { checkDepth, checkList, compileClauses, countClause } from "./compile_filter.ts";
import type { Budget } from "./compile_filter.ts";
import { isExtendedJson } from "./extended_json.ts";
import { markCompiled } from "./compiled.ts";
import { compileGeo } from "./geo.ts";
import { isJsonObject } from "./json.ts";
import type { JsonObject } from "./json.ts";
import { FREE } from "./resolve_path.ts";

/** Where a condition stands. */
export interface Place {
  /** The field that it is about. */
  readonly field: FieldShape;
  /** Its path, for messages. */
  readonly path: string;
  /** What the filter may still cost. */
  readonly budget: Budget;
  /** How deep it is nested. */
  readonly depth: number;
}

type Compile = (value: unknown, place: Place, operator: string) => unknown;

const one: Compile = (value, place) => castValue(value, place);
const many: Compile = (value, place, operator) =>
  checkList(value, operator, place.budget).map((each) => castValue(each, place));

/** The operators that are allowed on a field, and how the value of each is compiled. */
const OPERATORS: Readonly<Record<string, Compile>> = {
  $eq: one,
  $ne: one,
  $gt: one,
  $gte: one,
  $lt: one,
  $lte: one,
  $in: many,
  $nin: many,
  $all: many,
  $exists: (value, place, operator) =>
    [true, false, 0, 1].includes(value as never)
      ? Boolean(value)
      : wrong(place, operator, "a boolean"),
  $type: (value, place, operator) => compileType(value, place, operator),
  $size: (value, place, operator) => isCount(value) ? value : wrong(place, operator, "a count"),
  $mod: (value, place, operator) =>
    isDivision(value) ? value : wrong(place, operator, "a divisor and a remainder"),
  $regex: (value, place, operator) => compileRegex(value, place, operator),
  $options: (value, place, operator) =>
    isFlags(value) ? value : wrong(place, operator, "flags out of imsx"),
  $not: (value, place, operator) => compileNot(value, place, operator),
  $elemMatch: (value, place, operator) => compileElement(value, place, operator),
  $geoWithin: compileGeo,
  $geoIntersects: compileGeo,
  $near: compileGeo,
  $nearSphere: compileGeo,
  $minDistance: compileGeo,
  $maxDistance: compileGeo,
};

/** Operators that compare or match the value of the field itself. */
const COMPARES = new Set(["$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$in", "$nin", "$all"]);

/** Compiles what a filter says of one path: a value, or operators. */
export function compileCondition(
  value: unknown,
  field: FieldShape,
  path: string,
  budget: Budget,
  depth: number,
): unknown {
  const place = { field, path, budget, depth };
  if (
    isJsonObject(value) && !isExtendedJson(value) &&
    Object.keys(value).some((key) => key.startsWith("$"))
  ) {
    return compileOperators(value, place);
  }
  refuseSecretive(place);
  return castValue(value, place);
}

function compileOperators(value: JsonObject, place: Place): Record<string, unknown> {
  const { budget, depth, path } = place;
  checkDepth(budget, depth + 1);
  const inner = { ...place, depth: depth + 1 };
  const result: Record<string, unknown> = {};
  for (const [operator, operand] of Object.entries(value)) {
    countClause(budget);
    const compile = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
    if (compile === undefined) {
      throw badFormat(`Operator "${operator}" is not allowed at "${path}"`, {
        operator,
        field: path,
      });
    }
    if (COMPARES.has(operator)) refuseSecretive(place);
    result[operator] = compile(operand, inner, operator);
  }
  if ("$options" in value && !("$regex" in value)) wrong(place, "$options", `"$regex" beside it`);
  return markCompiled(result);
}

/** An object is compared field by field, a secret among them: such a comparison would tell of it. */
function refuseSecretive({ field, path }: Place): void {
  const inner = field.kind === "array" || field.kind === "map" ? field.element : field;
  if (field.shape?.secretive || inner?.shape?.secretive) {
    throw badFormat(`Field "${path}" can be filtered by its parts only`, { field: path });
  }
}

function compileElement(value: unknown, place: Place, operator: string): unknown {
  const { field, path, budget, depth } = place;
  if (!isJsonObject(value)) return wrong(place, operator, "an object");
  const element = field.kind === "free" ? FREE : field.element;
  if (element === undefined || field.kind === "map") {
    return wrong(place, operator, "an array to look into");
  }
  const keys = Object.keys(value);
  const operators = keys.length > 0 &&
    keys.every((key) => key.startsWith("$") && !/^\$(and|or|nor)$/.test(key));
  if (operators) return compileOperators(value, { ...place, field: element });
  if (element.kind === "object" || element.kind === "free") {
    return compileClauses(value, element.shape, budget, depth + 1);
  }
  throw badFormat(`Operator "${operator}" takes operators at "${path}"`, { operator, field: path });
}

function compileNot(value: unknown, place: Place, operator: string): unknown {
  if (!isJsonObject(value) || isExtendedJson(value)) return wrong(place, operator, "operators");
  if (Object.keys(value).length === 0) return wrong(place, operator, "operators");
  return compileOperators(value, place);
}

function compileRegex(value: unknown, place: Place, operator: string): unknown {
  const { maxRegex } = place.budget.limits;
  if (typeof value !== "string" || value.includes("\0")) {
    return wrong(place, operator, "an expression as text");
  }
  if (value.length > maxRegex) return wrong(place, operator, `at most ${maxRegex} characters`);
  if (place.field.kind === "object" || place.field.kind === "map") {
    return wrong(place, operator, "a text to match");
  }
  return value;
}

function compileType(value: unknown, place: Place, operator: string): unknown {
  const valid = (type: unknown) =>
    typeof type === "string" || (Number.isInteger(type) && Math.abs(type as number) < 256);
  const all = Array.isArray(value) ? checkList(value, operator, place.budget) : [value];
  return all.length > 0 && all.every(valid)
    ? value
    : wrong(place, operator, "a type or a list of types");
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isDivision(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 &&
    value.every((part) => Number.isFinite(part)) && value[0] !== 0;
}

function isFlags(value: unknown): boolean {
  return typeof value === "string" && /^[imsx]{0,4}$/.test(value);
}

function wrong({ path }: Place, operator: string, expected: string): never {
  throw badFormat(`Operator "${operator}" at "${path}" takes ${expected}`, {
    operator,
    field: path,
  });
}
