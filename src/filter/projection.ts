import type { Document, Model, PipelineStage } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import type { FieldShape, Shape } from "../schema/fields/shape.ts";
import { shapeWithin } from "../schema/fields/visibility.ts";
import { lossOf } from "../schema/mongoose/bson.ts";
import { isEmpty } from "./filters.ts";

/** A projection of hooks: values by path, with a `+` before a path that is shown besides the selected ones. */
export type Projection = Readonly<Record<string, unknown>>;

/** Whether a read shows a path with its field, so that it may get its default. */
export type Shows = (path: string, field: FieldShape) => boolean;

/** Reads a projection that hooks gave: names in a text or a list, or an object, with objects in it. */
export function readProjection(given: unknown, shape: Shape): Projection {
  const unselected = shape.unselected;
  // The database would take a `+` before any other path for a name.
  const entries = entriesOf(given).filter(([path]) =>
    !path.startsWith("+") || unselected.includes(path.slice(1))
  );
  return Object.fromEntries(entries);
}

/** Gives a projection as the database takes it: unselected fields are left out unless it names them. */
export function databaseProjection(projection: Projection, shape: Shape): Record<string, unknown> {
  const unselected = shape.unselected;
  const forced = unselected.filter((path) => Object.hasOwn(projection, `+${path}`));
  const isInclusive = includes(projection) === true;
  const named = Object.entries(projection).filter(([path, value]) =>
    // In an aggregation, `_id: 1` beside fields that are left out would leave out all others.
    !path.startsWith("+") && (isInclusive || path !== "_id" || !value)
  );
  // To Mongoose's documents, a projection that includes fields leaves out an identifier that it does not name.
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

/** Leaves out what only its own routes show. A projection that a route always has is always the same object. */
export function withoutApart(projection: Projection, shape: Shape): Projection {
  if (shape.apart.length === 0) return projection;
  return isEmpty(projection) ? shape.withoutApart : databaseProjection(projection, shape);
}

/**
 * Gives a projection that no index covers. An index holds `null` for what is missing: the database would show `null`
 * where nothing is stored.
 */
export function uncovered(projection: Projection): Projection {
  const isCoverable = Object.entries(projection).some(([path, value]) =>
    path !== "_id" && !path.startsWith("+") && Boolean(value) &&
    (typeof value !== "object" || isComputed(value))
  );
  return isCoverable ? { ...projection, __nowhere: 1 } : projection;
}

export function alsoReading(projection: Projection, paths: readonly string[]): Projection {
  if (Object.keys(projection).length === 0 || paths.length === 0) return projection;
  // A part of an object cannot be named beside the whole.
  const names = paths.map((path) => path.split(".", 1).join());
  return includes(projection) === true
    ? { ...projection, ...Object.fromEntries(names.map((name) => [name, 1])) }
    : Object.fromEntries(Object.entries(projection).filter(([path]) => !names.includes(path)));
}

/** Whether the database projects as Mongoose does: that shows an object that is named as a whole. */
export function isSameForDatabase(projection: Projection, shape: Shape): boolean {
  return Object.entries(projection).every(([path, value]) =>
    [1, 0, true, false].includes(value as never) && /^[^.+$]+$/.test(path) &&
    (!value || !shape.unselected.some((each) => each.startsWith(`${path}.`)))
  );
}

/** Whether a read shows less than everything, so that the answer of a write has to be read again. */
export function showsInPart({ selection, shape }: {
  readonly selection: { readonly projection: Projection };
  readonly shape: Shape;
}): boolean {
  return Object.keys(selection.projection).length > 0 ||
    shape.unselected.some((path) => !shape.apart.includes(path));
}

/** Gives the fields that a read does not show, and that an entity has that was read whole. */
export function unshownFields(projection: Projection, shape: Shape): ReadonlySet<FieldShape> {
  const paths = shape.unselected.filter((path) => !projection[path] && !projection[`+${path}`]);
  return new Set(paths.flatMap((path) => fieldAt(path.split("."), shape) ?? []));
}

function fieldAt([name = "", ...below]: readonly string[], shape?: Shape): FieldShape | undefined {
  const field = shape?.fields.get(name);
  return below.length === 0 ? field : fieldAt(below, field && shapeWithin(field));
}

/** Tells what a read shows, as Mongoose's documents do: the part of a projection inside an object decides there. */
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

/** Whether a projection names what is shown; `false` if it names what is not, `undefined` if neither. */
function includes(projection: Projection): boolean | undefined {
  const paths = Object.keys(projection);
  const decisive = paths.find((path) =>
    path !== "_id" && !path.startsWith("+") && isDecisive(projection[path])
  );
  if (decisive !== undefined) return Boolean(projection[decisive]);
  return paths.length === 1 && paths[0] === "_id" ? Boolean(projection._id) : undefined;
}

/** `$slice` and `$meta` change one field and leave the others as they are. */
function isDecisive(value: unknown): boolean {
  return typeof value !== "object" || value === null || !("$slice" in value || "$meta" in value);
}

/** Whether the database computes what is shown, so that it gets no default. */
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
  // Only the sign matters to Mongoose.
  if (path.startsWith("-")) return [[path.slice(1), 0]];
  const inner = isJsonObject(value) ? Object.entries(value) : [];
  const isNested = inner.length > 0 && inner.every(([key]) => !key.startsWith("$"));
  return isNested
    ? inner.flatMap(([key, each]) => fromEntry(`${path}.${key}`, each))
    : [[path, value]];
}

/** Tells how to project what a parent embeds, which is read by an aggregation. */
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
