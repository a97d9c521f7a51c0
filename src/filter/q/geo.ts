import { badFormat } from "../../errors/refusals.ts";
import { isJsonObject } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { checkDepth, checkList, deeper, refuse } from "./context.ts";
import type { Context } from "./context.ts";

/** The shapes that an operator takes, beside distances. A bare list is a point. */
const SHAPES: Readonly<Record<string, ReadonlySet<string>>> = {
  $geoWithin: new Set(["$geometry", "$box", "$polygon", "$center", "$centerSphere"]),
  $geoIntersects: new Set(["$geometry"]),
  $near: new Set(["$geometry", "$minDistance", "$maxDistance"]),
  $nearSphere: new Set(["$geometry", "$minDistance", "$maxDistance"]),
};

const GEOMETRIES = new Set([
  "Point",
  "LineString",
  "Polygon",
  "MultiPoint",
  "MultiLineString",
  "MultiPolygon",
  "GeometryCollection",
]);

/** Rebuilds the operand of a geo operator out of known shapes and finite numbers. */
export function compileGeo(value: unknown, context: Context): unknown {
  const { field, operator } = context;
  if (field.kind === "scalar") throw malformed(context);
  if (isPoint(value) && (operator === "$near" || operator === "$nearSphere")) return value;
  if (!isJsonObject(value)) throw malformed(context);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (SHAPES[operator]?.has(key) !== true) throw malformed(context);
      if (key === "$geometry") return [key, geometry(inner, context)];
      if (key.endsWith("Distance")) {
        return [key, compileDistance(inner, { ...context, operator: key })];
      }
      if (!Array.isArray(inner)) throw malformed(context);
      return [key, numbers(inner, context)];
    }),
  );
}

export function compileDistance(value: unknown, context: Context): unknown {
  return Number.isFinite(value) && value as number >= 0
    ? value
    : refuse(context, "a number that is not negative");
}

/** A point, and maybe the greatest distance. */
function isPoint(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => Number.isFinite(each)) &&
    (value.length === 2 || (value.length === 3 && value[2] >= 0));
}

function geometry(value: unknown, context: Context): JsonObject {
  if (!isJsonObject(value)) throw malformed(context);
  const { type, coordinates, geometries, ...others } = value;
  if (typeof type !== "string" || !GEOMETRIES.has(type) || Object.keys(others).length > 0) {
    throw malformed(context);
  }
  if (geometries === undefined) return { type, coordinates: numbers(coordinates, context) };
  const inner = deeper(context);
  return { type, geometries: checkList(geometries, context).map((each) => geometry(each, inner)) };
}

function numbers(value: unknown, context: Context): unknown {
  if (Number.isFinite(value)) return value;
  if (!Array.isArray(value)) throw malformed(context);
  checkDepth(context.depth, context.limits);
  const inner = { ...context, depth: context.depth + 1 };
  return checkList(value, context).map((each) => numbers(each, inner));
}

function malformed({ path, operator }: Context): Error {
  return badFormat(`Operator "${operator}" at "${path}" takes a geometry`, {
    operator,
    field: path,
  });
}
