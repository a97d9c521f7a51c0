import type { Problems } from "../../errors/bad_data.ts";
import { badFormat } from "../../errors/refusals.ts";
import { isJsonObject, MARK_KEYS, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { readBase64 } from "../../schema/mongoose/bson.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";

/** How deep a body may be nested: the database stores no more than 100 levels. */
export const MAX_DEPTH = 100;

/** A value of a body on its way to a document. */
export interface Cast {
  /** The path, for messages. */
  readonly path: string;
  /** How deep it is nested. */
  readonly depth: number;
  /** Takes what is wrong. */
  readonly problems: Problems;
  /** Whether the first problem ends it all, by a {@linkcode CastStopped}. */
  readonly stopsAtFirst?: boolean;
}

/** Ends the casting of a body that only has to be known as wrong. */
export class CastStopped extends Error {}

/** Takes the writable fields of a JSON object that will be a new object, cast to their types. */
export function castFields(value: JsonObject, shape: Shape, cast: Cast): Record<string, unknown> {
  const fields: [string, unknown][] = [];
  for (const [key, each] of writableEntries(value, shape, cast)) {
    const inner = deeper(cast, key);
    const field = shape.fields.get(key) as FieldShape;
    if (each !== null) fields.push([key, castField(each, field, inner)]);
  }
  return Object.fromEntries(fields.filter(([, each]) => each !== undefined));
}

/** Gives the entries that a body may set; in strict mode an undeclared one is a problem. */
export function writableEntries(
  value: JsonObject,
  shape: Shape,
  { path, problems }: Cast,
): [string, unknown][] {
  return Object.entries(value).filter(([key]) => {
    const field = PROTOTYPE_KEYS.has(key) ? undefined : shape.fields.get(key);
    if (field === undefined && shape.strict && !PROTOTYPE_KEYS.has(key)) {
      const full = joinPath(path, key);
      problems[full] = { message: `Field "${full}" is unknown`, kind: "strict" };
    }
    return field?.writable === true;
  });
}

/** Casts a value, never `null`, to its field's type; a value that cannot be one is a problem, and `undefined`. */
export function castField(value: unknown, field: FieldShape, cast: Cast): unknown {
  switch (field.kind) {
    case "free":
      return castFree(value, cast);
    case "object":
      return isJsonObject(value)
        ? castFields(value, field.shape as Shape, cast)
        : problem("Object", cast);
    case "map":
      return isJsonObject(value) ? castMap(value, field, cast) : problem("Map", cast);
    case "array":
      return Array.isArray(value)
        ? value.map((each, index) => castElement(each, field, deeper(cast, index)))
        : problem("Array", cast);
    default:
      return castScalar(value, field, cast);
  }
}

/** Casts an element of an array, or a value of a map. */
export function castElement(value: unknown, field: FieldShape, cast: Cast): unknown {
  if (field.element === undefined || value === null) return value;
  return castField(value, field.element, cast);
}

function castScalar(value: unknown, { type }: FieldShape, cast: Cast): unknown {
  const instance = type?.instance ?? "Value";
  if (typeof value === "object" && !isScalarObject(value)) return problem(instance, cast);
  if (instance === "Buffer") return readBase64(value) ?? problem(instance, cast);
  try {
    return type?.cast(value, null as never, false);
  } catch {
    return problem(instance, cast);
  }
}

/** Extended JSON of one value, such as `{ "$numberDecimal": "1.5" }`, which Mongoose reads. */
function isScalarObject(value: unknown): boolean {
  const keys = isJsonObject(value) ? Object.keys(value) : [];
  return keys.length === 1 && keys[0] === "$numberDecimal";
}

function castMap(value: JsonObject, field: FieldShape, cast: Cast): Record<string, unknown> {
  const entries = freeEntries(value, cast).filter(([, each]) => each !== null);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, castElement(each, field, deeper(cast, key))]),
  );
}

/**
 * Free-form data: copied without the keys that the database could not address. `null` is left out of objects that are
 * merged, and stays inside arrays, which are replaced as they are.
 */
export function castFree(value: unknown, cast: Cast, inArray = false): unknown {
  if (Array.isArray(value)) {
    return value.map((each, index) => castFree(each, deeper(cast, index), true));
  }
  if (!isJsonObject(value)) return value;
  const entries = freeEntries(value, cast).filter(([, each]) => inArray || each !== null);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, castFree(each, deeper(cast, key), inArray)]),
  );
}

/** The entries of an object whose keys are data. */
function freeEntries(value: JsonObject, cast: Cast): [string, unknown][] {
  const entries = Object.entries(value).filter(([key]) => !PROTOTYPE_KEYS.has(key));
  for (const [key] of entries) checkKey(key, cast);
  return entries;
}

/** Notes a key that the database could not address in a path. */
export function checkKey(key: string, { path, problems }: Cast): void {
  const addressable = key !== "" && !key.startsWith("$") && !/[.\0]/.test(key);
  if (!addressable || MARK_KEYS.has(key)) {
    problems[path] = { message: `Key "${key}" is not allowed in "${path}"`, kind: "key" };
  }
}

/** Goes one level down. */
export function deeper<C extends Cast>(cast: C, key: string | number): C {
  if (cast.depth >= MAX_DEPTH) throw badFormat(`The body is nested more than ${MAX_DEPTH} deep`);
  return { ...cast, path: joinPath(cast.path, String(key)), depth: cast.depth + 1 };
}

/** Whether something was wrong so far. */
export function hasProblems(problems: Problems): boolean {
  for (const _path in problems) return true;
  return false;
}

function joinPath(path: string, key: string): string {
  return path === "" ? key : `${path}.${key}`;
}

function problem(kind: string, { path, problems, stopsAtFirst }: Cast): undefined {
  if (stopsAtFirst) throw new CastStopped();
  problems[path] = { message: `Value at "${path}" cannot be read as ${kind}`, kind };
  return undefined;
}
