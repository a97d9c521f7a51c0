import type { Document } from "mongoose";
import { badData } from "../errors/bad_data.ts";
import { isJsonObject, PROTOTYPE_KEYS } from "../query/json.ts";
import type { JsonObject } from "../query/json.ts";
import { defaultOf, isRequired } from "../mapper/internals.ts";
import type { FieldShape, Shape } from "../shape/shape.ts";
import { rememberArray } from "../writing/array_versions.ts";
import { castField, castFree, checkKey, deeper, writableEntries } from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";

/**
 * Merges a body into a document as a JSON merge patch: objects merge, arrays are replaced, `null` clears. Only the
 * paths that the patch names are touched, so that only they are written.
 *
 * @throws {RestError} 400 that names every field whose value cannot be cast.
 */
export function mergeBody(doc: Document, body: JsonObject, shape: Shape): void {
  const cast: Cast = { path: "", depth: 0, problems: {} };
  mergeFields(doc, body, shape, cast);
  if (Object.keys(cast.problems).length > 0) throw badData(cast.problems);
}

function mergeFields(doc: Document, patch: JsonObject, shape: Shape, cast: Cast): void {
  for (const [key, value] of writableEntries(patch, shape, cast)) {
    mergeField(doc, value, shape.fields.get(key) as FieldShape, deeper(cast, key));
  }
}

function mergeField(doc: Document, value: unknown, field: FieldShape, cast: Cast): void {
  const { path } = cast;
  if (field.kind === "array" && !doc.isNew) rememberArray(doc, path);
  if (value === null) return clear(doc, path, field);
  if (isJsonObject(value) && isFilled(doc.get(path))) {
    if (field.kind === "object") return mergeFields(doc, value, field.shape as Shape, cast);
    if (field.kind === "free") return mergeFree(doc, value, cast);
    if (field.kind === "map") return mergeMap(doc, value, field, cast);
  }
  const result = castField(value, field, cast);
  if (result !== undefined) doc.set(path, result);
}

/** Whether there is an object to merge into. */
function isFilled(current: unknown): boolean {
  return typeof current === "object" && current !== null && !Array.isArray(current);
}

/** Clears a field: an array becomes empty, a field with a default takes it, so that a later read tells the same. */
function clear(doc: Document, path: string, { kind, type }: FieldShape): void {
  if (kind === "array") return void doc.set(path, []);
  doc.set(path, isRequired(type) ? undefined : defaultOf(type, doc));
}

/** RFC 7396 inside a free-form field, path by path. */
function mergeFree(doc: Document, patch: JsonObject, cast: Cast): void {
  mergeKeys(doc, patch, cast, (value, inner) => {
    if (isJsonObject(value) && isJsonObject(doc.get(inner.path))) mergeFree(doc, value, inner);
    else doc.set(inner.path, castFree(value, inner));
  });
}

function mergeMap(doc: Document, patch: JsonObject, field: FieldShape, cast: Cast): void {
  mergeKeys(doc, patch, cast, (value, inner) => {
    mergeField(doc, value, field.element as FieldShape, inner);
  });
}

/** Merges keys that are data, as long as nothing is wrong: `null` clears one, for any other value `merge` is called. */
function mergeKeys(
  doc: Document,
  patch: JsonObject,
  cast: Cast,
  merge: (value: unknown, inner: Cast) => void,
): void {
  for (const [key, value] of Object.entries(patch)) {
    if (PROTOTYPE_KEYS.has(key)) continue;
    checkKey(key, cast);
    const inner = deeper(cast, key);
    if (Object.keys(cast.problems).length > 0) continue;
    if (value === null) doc.set(inner.path, undefined);
    else merge(value, inner);
  }
}
