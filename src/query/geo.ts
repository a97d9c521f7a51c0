import { badFormat } from "../errors/refusals.ts";
import type { Place } from "./compile_condition.ts";
import { checkDepth, checkList } from "./compile_filter.ts";
import { isJsonObject } from "./json.ts";

const SHAPES = new Set([
  "$geometry",
  "$box",
  "$polygon",
  "$center",
  "$centerSphere",
  "$minDistance",
  "$maxDistance",
]);

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
  if (typeof value === "number" || Array.isArray(value)) {
    return numbers(value, place, operator, place.depth);
  }
  if (!isJsonObject(value)) throw malformed(place, operator);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      if (!SHAPES.has(key)) throw malformed(place, operator);
      return [
        key,
        key === "$geometry"
          ? geometry(inner, place, operator)
          : numbers(inner, place, operator, place.depth),
      ];
    }),
  );
}

function geometry(value: unknown, place: Place, operator: string): unknown {
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
