import { isJsonObject, type JsonObject } from "../../schema/fields/json.ts";
import { isClause, isCompiled } from "../filters.ts";
import { checkList, type Context, deeper, refuse } from "./limits.ts";
import { ReferenceCondition } from "./reference_condition.ts";
import { FREE } from "./resolve_path.ts";
import { castValue, isExtendedJson } from "./cast_value.ts";

export interface Operator {
  /**
   * The data that the operator reads. `"whole"`: the value with all fields inside, so a value with hidden fields is
   * refused. `"own"`: only a property, such as a length. `"inner"`: the operators in the operand decide.
   */
  readonly reads: "whole" | "own" | "inner";
  readonly compile: (operand: unknown, context: Context) => unknown;
  /** The operator needs one of these operators beside it. */
  readonly beside?: readonly string[];
  /** `false` if MongoDB may refuse an operand of the client. Its error is then answered with 400. */
  readonly isSafe?: boolean;
}

const COMPARE: Operator = { reads: "whole", compile: castValue, isSafe: true };
const COMPARE_LIST: Operator = { reads: "whole", compile: castAll, isSafe: true };
const GEO: Operator = { reads: "whole", compile: compileGeo };
const DISTANCE: Operator = {
  reads: "whole",
  compile: compileDistance,
  beside: ["$near", "$nearSphere"],
};

export const OPERATORS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["$eq", COMPARE],
  ["$ne", COMPARE],
  ["$gt", COMPARE],
  ["$gte", COMPARE],
  ["$lt", COMPARE],
  ["$lte", COMPARE],
  ["$in", COMPARE_LIST],
  ["$nin", COMPARE_LIST],
  ["$all", { reads: "whole", compile: castAll }],
  ["$exists", { reads: "own", compile: compileExists, isSafe: true }],
  ["$type", { reads: "own", compile: compileType }],
  ["$size", { reads: "own", compile: compileSize }],
  ["$mod", { reads: "own", compile: compileMod }],
  ["$regex", { reads: "own", compile: compileRegex }],
  ["$options", { reads: "own", compile: compileOptions, beside: ["$regex"] }],
  ["$not", { reads: "inner", compile: compileNot }],
  ["$elemMatch", { reads: "inner", compile: compileElement }],
  ["$geoWithin", GEO],
  ["$geoIntersects", GEO],
  ["$near", GEO],
  ["$nearSphere", GEO],
  ["$minDistance", DISTANCE],
  ["$maxDistance", DISTANCE],
]);

function castAll(value: unknown, context: Context): unknown[] {
  return checkList(value, context).map((each) => castValue(each, context));
}

function compileExists(value: unknown, context: Context): boolean {
  return [true, false, 0, 1].includes(value as never)
    ? Boolean(value)
    : refuse(context, "a boolean");
}

function compileType(value: unknown, context: Context): unknown {
  const types = Array.isArray(value) ? checkList(value, context) : [value];
  const isType = (type: unknown) =>
    typeof type === "string" || (Number.isInteger(type) && Math.abs(type as number) < 256);
  return types.length > 0 && types.every(isType)
    ? value
    : refuse(context, "a type or a list of types");
}

function compileSize(value: unknown, context: Context): unknown {
  return Number.isInteger(value) && value as number >= 0 ? value : refuse(context, "a count");
}

function compileMod(value: unknown, context: Context): unknown {
  const isDivision = Array.isArray(value) && value.length === 2 &&
    value.every((part) => Number.isFinite(part)) && value[0] !== 0;
  return isDivision ? value : refuse(context, "a divisor and a remainder");
}

function compileRegex(value: unknown, context: Context): string {
  const { field: { kind }, limits: { maxRegex } } = context;
  if (typeof value !== "string") return refuse(context, "an expression as text");
  if (value.includes("\0")) return refuse(context, "an expression without NUL");
  if (value.length > maxRegex) return refuse(context, `at most ${maxRegex} characters`);
  if (kind === "object" || kind === "map") return refuse(context, "a text to match");
  return value;
}

function compileOptions(value: unknown, context: Context): string {
  return typeof value === "string" && /^[imsx]{0,4}$/.test(value)
    ? value
    : refuse(context, "flags out of imsx");
}

function compileNot(value: unknown, context: Context): unknown {
  return context.compiler.operators(negatedOperators(value, context), context);
}

export function negatedOperators(value: unknown, context: Context): JsonObject {
  const isFilled = isJsonObject(value) && !isExtendedJson(value) && Object.keys(value).length > 0;
  return isFilled ? value : refuse(context, "operators");
}

export function isOperators(condition: unknown): condition is JsonObject {
  return isJsonObject(condition) && !isExtendedJson(condition) &&
    Object.keys(condition).some((key) => key.startsWith("$"));
}

export function isOnElement(operand: unknown): boolean {
  const keys = isJsonObject(operand) ? Object.keys(operand) : [];
  return keys.length > 0 && keys.every((key) => key.startsWith("$") && !isClause(key));
}

function compileElement(value: unknown, context: Context): unknown {
  const { field, whole, depth, compiler } = context;
  if (!isJsonObject(value)) return refuse(context, "an object");
  const element = field.kind === "free" ? FREE : field.element;
  if (element === undefined || field.kind === "map") {
    return refuse(context, "an array to look into");
  }
  if (isOnElement(value)) return compiler.operators(value, { ...context, field: element });
  if (element.kind === "object" || element.kind === "free") {
    const place = { shape: element.shape, depth: depth + 1, prefix: `${whole}.` };
    return compiler.clauses(value, place);
  }
  return refuse(context, "operators");
}

const NEAR = new Set(["$geometry", "$minDistance", "$maxDistance"]);

const SHAPES: Readonly<Record<string, ReadonlySet<string>>> = {
  $geoWithin: new Set(["$geometry", "$box", "$polygon", "$center", "$centerSphere"]),
  $geoIntersects: new Set(["$geometry"]),
  $near: NEAR,
  $nearSphere: NEAR,
};

const GEOMETRY = "a geometry";

const GEOMETRIES = /^((Multi)?(Point|LineString|Polygon)|GeometryCollection)$/;

function compileGeo(value: unknown, context: Context): unknown {
  const { field, operator } = context;
  if (field.kind === "scalar") return refuse(context, GEOMETRY);
  if (isPoint(value) && (operator === "$near" || operator === "$nearSphere")) return value;
  if (!isJsonObject(value)) return refuse(context, GEOMETRY);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (SHAPES[operator]?.has(key) !== true) return refuse(context, GEOMETRY);
      if (key === "$geometry") return [key, geometry(inner, context)];
      if (key.endsWith("Distance")) {
        return [key, compileDistance(inner, { ...context, operator: key })];
      }
      if (!Array.isArray(inner)) return refuse(context, GEOMETRY);
      return [key, numbers(inner, context)];
    }),
  );
}

function compileDistance(value: unknown, context: Context): unknown {
  return Number.isFinite(value) && value as number >= 0
    ? value
    : refuse(context, "a number that is not negative");
}

function isPoint(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => Number.isFinite(each)) &&
    (value.length === 2 || (value.length === 3 && value[2] >= 0));
}

function geometry(value: unknown, context: Context): JsonObject {
  if (!isJsonObject(value)) return refuse(context, GEOMETRY);
  const { type, coordinates, geometries, ...others } = value;
  if (typeof type !== "string" || !GEOMETRIES.test(type) || Object.keys(others).length > 0) {
    return refuse(context, GEOMETRY);
  }
  if (geometries === undefined) return { type, coordinates: numbers(coordinates, context) };
  const inner = deeper(context);
  return { type, geometries: checkList(geometries, context).map((each) => geometry(each, inner)) };
}

function numbers(value: unknown, context: Context): unknown {
  if (Number.isFinite(value)) return value;
  if (!Array.isArray(value)) return refuse(context, GEOMETRY);
  const inner = deeper(context);
  return checkList(value, context).map((each) => numbers(each, inner));
}

export function mayBeRefused(filter: unknown): boolean {
  if (Array.isArray(filter)) return filter.some(mayBeRefused);
  if (filter instanceof ReferenceCondition) return mayBeRefused(filter.conditions);
  if (!isJsonObject(filter)) return false;
  const isUnsafe = (key: string) => OPERATORS.get(key)?.isSafe !== true;
  if (isCompiled(filter) && Object.keys(filter).some(isUnsafe)) return true;
  return Object.values(filter).some(mayBeRefused);
}
