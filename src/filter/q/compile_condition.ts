import { badFormat } from "../../errors/refusals.ts";
import type { FieldShape } from "../../schema/fields/shape.ts";
import { checkDepth, checkList, countClause, wrong } from "./budget.ts";
import type { Place } from "./budget.ts";
import { castValue } from "./values/cast_value.ts";
import { isExtendedJson } from "./values/extended_json.ts";
import { markCompiled } from "./compiled.ts";
import { compileDistance, compileGeo } from "./values/geo.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { compileRegex, compileType, isCount, isDivision, isFlags } from "./values/operands.ts";
import { FREE } from "./resolve_path.ts";

/** An operator that is allowed on a field. */
interface Operator {
  /**
   * What it reads: the whole value, with all that is below its path; only what the value itself is; or only what the
   * operators inside it read.
   */
  readonly reads: "whole" | "own" | "inner";
  /** Compiles its operand. */
  readonly compile: (operand: unknown, place: Place, operator: string) => unknown;
}

const COMPARE: Operator = { reads: "whole", compile: castValue };
const COMPARE_LIST: Operator = {
  reads: "whole",
  compile: (value, place, operator) =>
    checkList(value, operator, place.budget).map((each) => castValue(each, place)),
};
const GEO: Operator = { reads: "whole", compile: compileGeo };
const DISTANCE: Operator = { reads: "whole", compile: compileDistance };

/** An operator on the value itself, whose operand is taken as it is where it passes a check. */
function checked(isValid: (operand: unknown) => boolean, expected: string): Operator {
  return {
    reads: "own",
    compile: (operand, place, operator) =>
      isValid(operand) ? operand : wrong(place, operator, expected),
  };
}

const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["$eq", COMPARE],
  ["$ne", COMPARE],
  ["$gt", COMPARE],
  ["$gte", COMPARE],
  ["$lt", COMPARE],
  ["$lte", COMPARE],
  ["$in", COMPARE_LIST],
  ["$nin", COMPARE_LIST],
  ["$all", COMPARE_LIST],
  ["$exists", {
    reads: "own",
    compile: (value, place, operator) =>
      [true, false, 0, 1].includes(value as never)
        ? Boolean(value)
        : wrong(place, operator, "a boolean"),
  }],
  ["$type", { reads: "own", compile: compileType }],
  ["$size", checked(isCount, "a count")],
  ["$mod", checked(isDivision, "a divisor and a remainder")],
  ["$regex", { reads: "own", compile: compileRegex }],
  ["$options", checked(isFlags, "flags out of imsx")],
  ["$not", { reads: "inner", compile: compileNot }],
  ["$elemMatch", { reads: "inner", compile: compileElement }],
  ["$geoWithin", GEO],
  ["$geoIntersects", GEO],
  ["$near", GEO],
  ["$nearSphere", GEO],
  ["$minDistance", DISTANCE],
  ["$maxDistance", DISTANCE],
]);

/** Operators that say nothing without another one beside them. */
const COMPANIONS: readonly (readonly [string, readonly string[]])[] = [
  ["$options", ["$regex"]],
  ["$minDistance", ["$near", "$nearSphere"]],
  ["$maxDistance", ["$near", "$nearSphere"]],
];

/**
 * Compiles what a filter says of one path: a value, or operators. The result is marked: its values are cast, and Mongoose
 * must not read them a second time, as it would make other conditions of some.
 */
export function compileCondition(value: unknown, place: Place): Record<string, unknown> {
  const isOperators = isJsonObject(value) && !isExtendedJson(value) &&
    Object.keys(value).some((key) => key.startsWith("$"));
  if (isOperators) return compileOperators(value, place);
  refuseSecretive(place);
  return markCompiled({ $eq: castValue(value, place) });
}

function compileOperators(value: JsonObject, place: Place): Record<string, unknown> {
  const { budget, depth, path } = place;
  checkDepth(budget, depth + 1);
  const inner = { ...place, depth: depth + 1 };
  const result: Record<string, unknown> = {};
  for (const [name, operand] of Object.entries(value)) {
    countClause(budget);
    const operator = OPERATORS.get(name);
    if (operator === undefined) {
      throw badFormat(`Operator "${name}" is not allowed at "${path}"`, {
        operator: name,
        field: path,
      });
    }
    if (operator.reads === "whole") refuseSecretive(place);
    result[name] = operator.compile(operand, inner, name);
  }
  for (const [name, others] of COMPANIONS) {
    if (!(name in result) || others.some((other) => other in result)) continue;
    wrong(place, name, `${others.map((other) => `"${other}"`).join(" or ")} beside it`);
  }
  return markCompiled(result);
}

/** What reads an object as a whole would tell of a secret in it. */
function refuseSecretive({ field, path }: Place): void {
  if (isSecretive(field)) {
    throw badFormat(`Field "${path}" can be filtered by its parts only`, { field: path });
  }
}

function isSecretive({ shape, element }: FieldShape): boolean {
  return shape?.secretive === true || (element !== undefined && isSecretive(element));
}

function compileElement(value: unknown, place: Place, operator: string): unknown {
  const { field, path, depth } = place;
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
    return place.clauses(value, element.shape, depth + 1);
  }
  throw badFormat(`Operator "${operator}" takes operators at "${path}"`, { operator, field: path });
}

function compileNot(value: unknown, place: Place, operator: string): unknown {
  if (!isJsonObject(value) || isExtendedJson(value)) return wrong(place, operator, "operators");
  if (Object.keys(value).length === 0) return wrong(place, operator, "operators");
  return compileOperators(value, place);
}
