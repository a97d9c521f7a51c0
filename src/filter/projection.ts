import type { Document, Model, PipelineStage } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { shapeWithin } from "../schema/fields/visibility.ts";
import { lossOf } from "../schema/mongoose/bson.ts";
import { isEmpty, topOf } from "./filters.ts";

/** A `+` before a path adds a field with `select: false`. */
export type Projection = Readonly<Record<string, unknown>>;

/** Only a shown field gets its default, because a field that was not read may be stored. */
export type Shows = (path: string, field: FieldShape) => boolean;

export function readProjection(given: unknown, shape: Shape): Projection {
  const unselected = shape.unselected;
  // MongoDB would read a `+` before a selected field as a part of the name, so such paths are dropped.
  const entries = entriesOf(given).filter(([path]) =>
    !path.startsWith("+") || unselected.includes(path.slice(1))
  );
  return Object.fromEntries(entries);
}

export function databaseProjection(projection: Projection, shape: Shape): Record<string, unknown> {
  const unselected = shape.unselected;
  const forced = unselected.filter((path) => Object.hasOwn(projection, `+${path}`));
  const isInclusive = includes(projection) === true;
  const named = Object.entries(projection).filter(([path, value]) =>
    // In an aggregation, `_id: 1` next to excluded fields would exclude all other fields.
    !path.startsWith("+") && (isInclusive || path !== "_id" || !value)
  );
  // Unlike MongoDB, Mongoose leaves out `_id` if an inclusive projection does not name it, so it is added.
  const others = isInclusive
    ? ["_id", ...forced].map((path) => [path, 1])
    : unselected.filter((path) =>
      !forced.includes(path) &&
      !named.some(([other, value]) => isDecisive(value) && path.startsWith(`${other}.`))
    ).map((path) => [path, 0]);
  return Object.fromEntries([...others, ...named]);
}

export function projectionOf(names: readonly string[]): Readonly<Record<string, 1>> {
  return Object.fromEntries(["_id", ...names].map((name) => [name, 1]));
}

/**
 * JSON writers are cached by their projection object, so an empty projection is always the same
 * object.
 */
export function withoutApart(projection: Projection, shape: Shape): Projection {
  if (shape.apart.length === 0) return projection;
  return isEmpty(projection) ? shape.withoutApart : databaseProjection(projection, shape);
}

/** An index alone stores `null` for a missing field, so the projection makes MongoDB read the documents. */
export function uncovered(projection: Projection): Projection {
  const isCoverable = Object.entries(projection).some(([path, value]) =>
    path !== "_id" && !path.startsWith("+") && Boolean(value) &&
    (typeof value !== "object" || isComputed(value))
  );
  return isCoverable ? { ...projection, __nowhere: 1 } : projection;
}

export function alsoReading(projection: Projection, paths: readonly string[]): Projection {
  if (Object.keys(projection).length === 0 || paths.length === 0) return projection;
  // MongoDB refuses a projection with an object and a path inside, so only top-level fields are added.
  const names = paths.map((path) => path.split(".", 1).join());
  if (includes(projection) === true) {
    return { ...projection, ...Object.fromEntries(names.map((name) => [name, 1])) };
  }
  // If only `_id: 1` were left, it would exclude all other fields. Next to excluded fields, it means nothing.
  const others = Object.fromEntries(
    Object.entries(projection).filter(([path, value]) =>
      !names.includes(topOf(path)) && (path !== "_id" || !value)
    ),
  );
  // A mixed projection, which MongoDB refuses, stays: without its exclusions, it would silently leave out other fields.
  return includes(others) === true ? projection : others;
}

/** `false` if MongoDB would show more: in a named object, Mongoose leaves out fields with `select: false`. */
export function isSameForDatabase(projection: Projection, shape: Shape): boolean {
  return Object.entries(projection).every(([path, value]) =>
    [1, 0, true, false].includes(value as never) && /^[^.+$]+$/.test(path) &&
    (!value || !shape.unselected.some((each) => each.startsWith(`${path}.`)))
  );
}

/** A write has the whole entity, so an answer with a part must read it again. */
export function showsInPart({ selection, shape }: {
  readonly selection: { readonly projection: Projection };
  readonly shape: Shape;
}): boolean {
  return Object.keys(selection.projection).length > 0 ||
    shape.unselected.some((path) => !shape.apart.includes(path));
}

/** A change reads all fields, but its answer must not show fields with `select: false`. */
export function unshownFields(projection: Projection, shape: Shape): ReadonlySet<FieldShape> {
  const paths = shape.unselected.filter((path) => !projection[path] && !projection[`+${path}`]);
  return new Set(paths.flatMap((path) => fieldAt(path.split("."), shape) ?? []));
}

function fieldAt([name = "", ...below]: readonly string[], shape?: Shape): FieldShape | undefined {
  const field = shape?.fields.get(name);
  return below.length === 0 ? field : fieldAt(below, field && shapeWithin(field));
}

export function showsWhole(name: string, projection: Projection): boolean {
  const { _id: id, ...others } = Object.fromEntries(
    Object.entries(projection).filter(([path]) => !path.startsWith("+")),
  );
  if (name === "_id") return id === undefined || id === 1 || id === true;
  const values = Object.values(others);
  if (values.length === 0) return !id;
  return values.every((value) => value === 0 || value === false)
    ? !Object.keys(others).some((path) => topOf(path) === name)
    : others[name] === 1 || others[name] === true;
}

/** Decides as Mongoose's documents do, so that answers without documents are the same. */
export function shownBy(projection: Projection, shape: Shape): Shows {
  const whole = databaseProjection(projection, shape);
  return (path, field) => {
    const end = path.lastIndexOf(".") + 1;
    if (end === 0) return isShown(path, { field, projection: whole });
    const prefix = path.slice(0, end);
    const inside = Object.entries(whole).filter(([each]) => each.startsWith(prefix));
    const part = Object.fromEntries(inside.map(([each, value]) => [each.slice(end), value]));
    return isShown(path.slice(end), { field, projection: part });
  };
}

function isShown(
  name: string,
  { field, projection }: { field: FieldShape; projection: Projection },
): boolean {
  const isNamed = Object.hasOwn(projection, name);
  const value = projection[name];
  if (name === "_id") return !isNamed || Boolean(value);
  const isInclusive = includes(projection);
  if (isInclusive !== true) return isInclusive === undefined || !isNamed;
  if (isNamed && !isComputed(value)) return true;
  return hasObjects(field) &&
    (isNamed || Object.keys(projection).some((path) => path.startsWith(`${name}.`)));
}

function includes(projection: Projection): boolean | undefined {
  const paths = Object.keys(projection);
  const decisive = paths.find((path) =>
    path !== "_id" && !path.startsWith("+") && isDecisive(projection[path])
  );
  if (decisive !== undefined) return Boolean(projection[decisive]);
  return paths.length === 1 && paths[0] === "_id" ? Boolean(projection._id) : undefined;
}

function isDecisive(value: unknown): boolean {
  return typeof value !== "object" || value === null || !("$slice" in value || "$meta" in value);
}

function isComputed(value: unknown): boolean {
  return typeof value === "object" && value !== null && isDecisive(value) &&
    !("$elemMatch" in value);
}

function hasObjects({ kind, element, shape }: FieldShape): boolean {
  return kind === "array" ? element?.shape !== undefined : kind === "object" && shape !== undefined;
}

function entriesOf(given: unknown): [string, unknown][] {
  if (given === undefined || given === null) return [];
  if (typeof given === "string" || Array.isArray(given)) {
    const names = typeof given === "string" ? given.split(/\s+/) : given.map(String);
    return names.filter((name) => name !== "")
      .map((name) => name.startsWith("-") ? [name.slice(1), 0] : [name, 1]);
  }
  if (!isJsonObject(given)) throw new TypeError("Cannot use the projection: it is not an object");
  return Object.entries(given).flatMap(([key, value]) => fromEntry(key, value));
}

function fromEntry(path: string, value: unknown): [string, unknown][] {
  const loss = value === null ? "null" : lossOf(value);
  if (loss !== undefined) throw new TypeError(`Cannot use the projection: "${path}" is ${loss}`);
  // Mongoose excludes a path with a leading `-`, even if its value is 1.
  if (path.startsWith("-")) return [[path.slice(1), 0]];
  const inner = isJsonObject(value) ? Object.entries(value) : [];
  const isNested = inner.length > 0 && inner.every(([key]) => !key.startsWith("$"));
  return isNested
    ? inner.flatMap(([key, each]) => fromEntry(`${path}.${key}`, each))
    : [[path, value]];
}

/**
 * Embedded parts are read from their parent's document, so a projection cannot show single elements of their arrays.
 */
export function readProjected(
  given: Projection,
  { shape, model }: { readonly shape: Shape; readonly model: Model<unknown> },
): { readonly stages: readonly PipelineStage[]; readonly hydrate: (raw: object) => Document } {
  const stored = databaseProjection(given, shape);
  for (const [path, value] of Object.entries(stored)) {
    const showsElements = isJsonObject(value) && ("$slice" in value || "$elemMatch" in value);
    if (!path.endsWith(".$") && !showsElements) continue;
    throw new TypeError(
      `Cannot use the projection: "${path}" would show some elements of an array, which is not possible in an embedded part`,
    );
  }
  return {
    stages: isEmpty(stored) ? [] : [{ $project: stored as never }],
    hydrate: (raw) => model.hydrate(raw, stored) as Document,
  };
}
