import type { Schema } from "mongoose";
import { typeName } from "./describe_object.ts";
import { describeType } from "./describe_constraints.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { isRecursive, isSecret, whyUnseen } from "../schema/fields/visibility.ts";
import type { QueryLimits } from "../filter/q/limits.ts";
import { OPERATORS } from "../filter/q/operators.ts";
import type { ListedPaths } from "../filter/q/listed_paths.ts";

/** @internal A path that a condition of the filter `q` may name. */
export interface FilterPath {
  /** The path from the root of the entity, without indexes of arrays. */
  readonly path: string;
  readonly type: string;
  /** `date` for a `Date` that is compared with a day without a time. */
  readonly format?: "date";
  readonly operators: readonly string[];
  /** Whether a filter may name longer paths: below free-form fields and Maps, and in a class that embeds itself. */
  readonly open?: boolean;
}

/** @internal The conditions that the filter `q` may have. */
export interface FilterDescription {
  /** The paths that conditions may name, up to the second occurrence of a class that embeds itself. */
  readonly fields: readonly FilterPath[];
  readonly limits: QueryLimits;
}

export function listPaths(
  shape: Shape,
  { schema, prefix = "", visited = new Set() }: {
    readonly schema: Schema | undefined;
    readonly prefix?: string;
    /** Without this set, a class that embeds itself would make the list infinite. */
    readonly visited?: Set<Shape>;
  },
): FilterPath[] {
  return filterFields(shape, schema).flatMap(([name, field, operators]) => {
    const path = `${prefix}${name}`;
    const inner = elementOf(field);
    const ends = inner.shape !== undefined && visited.has(inner.shape);
    const isOpen = ends || inner.kind === "map" || inner.kind === "free";
    const own = { path, ...describeType(typeName(field)), operators, ...isOpen && { open: true } };
    if (inner.shape === undefined || ends) return [own];
    if (isRecursive(inner.shape, shapesIn)) visited.add(inner.shape);
    const below = { schema: schemaOf(inner), prefix: `${path}.`, visited };
    return [own, ...listPaths(inner.shape, below)];
  });
}

/** An array with listed paths inside is kept, because a filter with `$elemMatch` must name the array itself. */
export function listedOf(fields: readonly FilterPath[], listed: ListedPaths): FilterPath[] {
  const own = fields.flatMap((field) => {
    if (listed.names.includes(field.path)) return [field];
    const { operators, ...named } = field;
    const isArray = operators.includes("$elemMatch") && listed.isBelow(field.path);
    return isArray ? [{ ...named, operators: ELEMENT_OPERATORS }] : [];
  });
  const referred = [...listed.referred].map(([path, { field }]) => {
    return { path, ...describeType(typeName(field)), operators: operatorsOf(field) };
  });
  return [...own, ...referred];
}

/** For an array that the option `filter` does not list, other operators would compare unlisted fields of elements. */
export const ELEMENT_OPERATORS: readonly string[] = ["$not", "$elemMatch"];

/** A path in a filter has no segment for an array inside of an array, so this skips nested arrays. */
function elementOf(field: FieldShape): FieldShape {
  return field.kind === "array" && field.element !== undefined ? elementOf(field.element) : field;
}

function shapesIn({ fields }: Shape): Shape[] {
  const visible = [...fields.values()].filter((field) => whyUnseen(field) === undefined);
  return visible.flatMap((field) => elementOf(field).shape ?? []);
}

export function schemaOf({ type }: FieldShape): Schema | undefined {
  return (type as { schema?: Schema } | undefined)?.schema;
}

export function filterFields(
  { fields }: Shape,
  schema: Schema | undefined,
): [name: string, field: FieldShape, operators: string[]][] {
  const indexed = schema?.indexes().flatMap(([key]) => Object.entries(key)) ?? [];
  // MongoDB refuses `$near` on a field without a geospatial index.
  const places = indexed.filter(([, kind]) => /^2d/.test(String(kind))).map(([path]) => path);
  return [...fields].filter(([, field]) => whyUnseen(field) === undefined)
    .map(([name, field]) => [name, field, operatorsOf(field, places.includes(name))]);
}

export function operatorsOf(field: FieldShape, isPlace = false): string[] {
  const { kind } = field;
  const taken = [...OPERATORS].filter(([name, { reads }]) => {
    if (OF_PLACES.test(name)) return isPlace && kind !== "scalar";
    if (name === "$elemMatch") return kind === "array" || kind === "free";
    if (name === "$regex" || name === "$options") return kind !== "object" && kind !== "map";
    return reads !== "whole" || !isSecret(field);
  });
  return taken.map(([name]) => name);
}

const OF_PLACES = /^\$(geo|near|minDistance|maxDistance)/;
