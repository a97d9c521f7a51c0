import { badFormat } from "../../../errors/refusals.ts";
import { checkDepth, checkList, wrong } from "../budget.ts";
import type { Place } from "../budget.ts";
import { isJsonObject } from "../../../schema/fields/json.ts";
import type { JsonObject } from "../../../schema/fields/json.ts";

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

/**
 * Rebuilds the operand of a geo operator out of known shapes and finite numbers.
 *
 * @throws {RestError} 400 if there is anything else in it, or the field can hold no place.
 */
export function compileGeo(value: unknown, place: Place, operator: string): unknown {
  if (place.field.kind === "scalar") throw malformed(place, operator);
  if (isPoint(value) && isNear(operator)) return value;
  if (!isJsonObject(value)) throw malformed(place, operator);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (SHAPES[operator]?.has(key) !== true) throw malformed(place, operator);
      if (key === "$geometry") return [key, geometry(inner, place, operator)];
      if (key.endsWith("Distance")) return [key, compileDistance(inner, place, key)];
      if (!Array.isArray(inner)) throw malformed(place, operator);
      return [key, numbers(inner, place, operator, place.depth)];
    }),
  );
}

/** Checks the operand of `$minDistance` and `$maxDistance`. */
export function compileDistance(value: unknown, place: Place, operator: string): unknown {
  return Number.isFinite(value) && value as number >= 0
    ? value
    : wrong(place, operator, "a number that is not negative");
}

/** Two numbers; MongoDB takes a greatest distance behind them. */
function isPoint(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => Number.isFinite(each)) &&
    (value.length === 2 || (value.length === 3 && value[2] >= 0));
}

function isNear(operator: string): boolean {
  return operator === "$near" || operator === "$nearSphere";
}

function geometry(value: unknown, place: Place, operator: string): JsonObject {
  if (!isJsonObject(value)) throw malformed(place, operator);
  const { type, coordinates, geometries, ...others } = value;
  if (typeof type !== "string" || !GEOMETRIES.has(type) || Object.keys(others).length > 0) {
    throw malformed(place, operator);
  }
  if (geometries === undefined) {
    return { type, coordinates: numbers(coordinates, place, operator, place.depth) };
  }
  const deeper = { ...place, depth: place.depth + 1 };
  checkDepth(place.budget, deeper.depth);
  return {
    type,
    geometries: checkList(geometries, operator, place.budget).map((each) =>
      geometry(each, deeper, operator)
    ),
  };
}

/** Finite numbers, in lists nested as deep as the caps allow. */
function numbers(value: unknown, place: Place, operator: string, depth: number): unknown {
  if (Number.isFinite(value)) return value;
  if (!Array.isArray(value)) throw malformed(place, operator);
  checkDepth(place.budget, depth);
  return checkList(value, operator, place.budget).map((each) =>
    numbers(each, place, operator, depth + 1)
  );
}

function malformed({ path }: Place, operator: string): Error {
  return badFormat(`Operator "${operator}" at "${path}" takes a geometry`, {
    operator,
    field: path,
  });
}
