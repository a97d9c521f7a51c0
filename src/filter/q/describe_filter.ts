import type { Schema } from "mongoose";
import { typeName } from "../../schema/describe_object.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { isRecursive, isSecret, whyUnseen } from "../../schema/fields/visibility.ts";
import type { QueryLimits } from "./limits.ts";
import { OPERATORS } from "./operators.ts";
import type { ListedPaths } from "./resolve_path.ts";

/** A path that a filter may name. */
export interface FilterPath {
  /** The path, such as `address.city`. */
  readonly path: string;
  /** The type, as in `ValueDescription`. */
  readonly type: string;
  /** The operators that it takes. */
  readonly operators: readonly string[];
  /** Whether a filter may name any path below it. */
  readonly open?: boolean;
}

/** The filters that the URL parameter `q` may hold. */
export interface FilterDescription {
  /**
   * The paths, besides `$and`, `$or` and `$nor`. Elements of arrays can be named by their index too, such as `tags.0`.
   * Where classes embed themselves or each other, the paths end where a class begins again, and `open` is `true`.
   */
  readonly fields: readonly FilterPath[];
  /** The limits of a filter. */
  readonly limits: QueryLimits;
}

export function listPaths(
  shape: Shape,
  { schema, prefix = "", seen = new Set() }: {
    readonly schema: Schema | undefined;
    readonly prefix?: string;
    /** The objects that embed themselves and were listed before: their paths would never end. */
    readonly seen?: Set<Shape>;
  },
): FilterPath[] {
  return filterFields(shape, schema).flatMap(([name, field, operators]) => {
    const path = `${prefix}${name}`;
    const inner = elementOf(field);
    const ends = inner.shape !== undefined && seen.has(inner.shape);
    const isOpen = ends || inner.kind === "map" || inner.kind === "free";
    const own = { path, type: typeName(field), operators, ...isOpen && { open: true } };
    if (inner.shape === undefined || ends) return [own];
    if (isRecursive(inner.shape, shapesIn)) seen.add(inner.shape);
    const below = { schema: schemaOf(inner), prefix: `${path}.`, seen };
    return [own, ...listPaths(inner.shape, below)];
  });
}

/** Describes the paths that are listed, and the arrays whose elements have listed fields. */
export function listedOf(fields: readonly FilterPath[], listed: ListedPaths): FilterPath[] {
  return fields.flatMap((field) => {
    if (listed.names.includes(field.path)) return [field];
    const { path, type, operators } = field;
    const isArray = operators.includes("$elemMatch") && listed.isBelow(path);
    return isArray ? [{ path, type, operators: ELEMENT_OPERATORS }] : [];
  });
}

/** The operators that name fields of the elements of an array, and not the elements. */
export const ELEMENT_OPERATORS: readonly string[] = ["$not", "$elemMatch"];

/** Gives the element of an array of any depth, or the field itself. */
function elementOf(field: FieldShape): FieldShape {
  return field.kind === "array" && field.element !== undefined ? elementOf(field.element) : field;
}

function shapesIn({ fields }: Shape): Shape[] {
  const seen = [...fields.values()].filter((field) => whyUnseen(field) === undefined);
  return seen.flatMap((field) => elementOf(field).shape ?? []);
}

export function schemaOf({ type }: FieldShape): Schema | undefined {
  return (type as { schema?: Schema } | undefined)?.schema;
}

/** Gives the fields of an object that a filter may name, and the operators that each takes. */
export function filterFields(
  { fields }: Shape,
  schema: Schema | undefined,
): [name: string, field: FieldShape, operators: string[]][] {
  const indexed = schema?.indexes().flatMap(([key]) => Object.entries(key)) ?? [];
  // Fields without an index of places have no use for the operators of places.
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
