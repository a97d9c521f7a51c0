import type { Document } from "mongoose";
import { badData } from "../../errors/bad_data.ts";
import { isJsonObject, PROTOTYPE_KEYS } from "../../schema/fields/json.ts";
import type { JsonObject } from "../../schema/fields/json.ts";
import { isDocument } from "../../schema/mongoose/bson.ts";
import { isStrange } from "../../schema/mongoose/documents/linear_map.ts";
import { defaultOf, isRequired, isRequiredAtTimes } from "../../schema/mongoose/internals.ts";
import {
  forgetChanges,
  isLocked,
  readSlot,
  writeElements,
  writeFree,
  writeSlot,
} from "../../schema/mongoose/documents/track_changes.ts";
import type { Slot } from "../../schema/mongoose/documents/track_changes.ts";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { rememberArray } from "../save/array_versions.ts";
import { rememberObject } from "../save/fresh_objects.ts";
import {
  castElement,
  castField,
  checkKey,
  deeper,
  hasProblems,
  writableEntries,
} from "./cast_body.ts";
import type { Cast } from "./cast_body.ts";
import { mergeFree } from "./merge_free.ts";
import { holdsProtected, isClearable } from "./protected_fields.ts";

/** How a body is merged into a part of a document. */
interface Merge extends Cast {
  /** The document that the request is about. */
  readonly root: Document;
  /** Whether what the body leaves out is cleared, as in an element that is replaced by itself. */
  readonly whole: boolean;
}

/**
 * Merges a body into a document as a JSON merge patch: objects merge, arrays are replaced, `null` clears. Only the
 * paths that the patch names are touched, so that only they are written. What a client can neither see nor set stays.
 *
 * @throws {RestError} 400 that names every field whose value cannot be cast.
 */
export function mergeBody(doc: Document, body: JsonObject, shape: Shape): void {
  const merge: Merge = { path: "", depth: 0, problems: {}, root: doc, whole: false };
  mergeFields({ doc, path: "" }, body, shape, merge);
  if (hasProblems(merge.problems)) throw badData(merge.problems);
}

/** Merges into the fields of an object; the slot's path is that of the object in its document. */
function mergeFields(object: Slot, patch: JsonObject, shape: Shape, merge: Merge): void {
  const named = new Map(writableEntries(patch, shape, merge));
  for (const [name, value] of named) {
    const field = shape.fields.get(name) as FieldShape;
    mergeField(slotIn(object, name), value, field, deeper(merge, name));
  }
  if (!merge.whole) return;
  for (const [name, field] of shape.fields) {
    if (named.has(name) || !isClearable(field) || isLocked(field.type, object.doc)) continue;
    clear(slotIn(object, name), field);
  }
}

function mergeField(slot: Slot, value: unknown, field: FieldShape, merge: Merge): void {
  if (field.kind === "array" && !merge.root.isNew) rememberArray(merge.root, merge.path);
  if (value === null) return clear(slot, field);
  if (mergesInto(slot, value, field, merge)) return;
  const isFresh = isJsonObject(value) && !isFilled(readSlot(slot));
  const result = castField(value, field, merge);
  if (result === undefined) return;
  writeSlot(slot, result);
  if (isFresh && !merge.root.isNew) rememberObject(merge.root, merge.path);
}

function isFilled(current: unknown): boolean {
  return typeof current === "object" && current !== null;
}

/** Merges a value into what is there; `false` where it takes its place. */
function mergesInto(slot: Slot, value: unknown, field: FieldShape, merge: Merge): boolean {
  const current = readSlot(slot);
  if (typeof current !== "object" || current === null || isLocked(field.type, slot.doc)) {
    return false;
  }
  if (Array.isArray(value)) return mergeElements(slot, value, field, merge);
  if (!isJsonObject(value) || Array.isArray(current)) return false;
  const { kind, type } = field;
  if (kind === "map" && current instanceof Map) mergeMap(slot, value, field, merge);
  else if (kind === "object" && (isDocument(current) || type === undefined)) {
    mergeFields(objectAt(slot), value, field.shape as Shape, merge);
  } else if (kind === "free" && isJsonObject(current) && !merge.whole) {
    const changed: string[] = [];
    const result = mergeFree(current, value, merge, changed);
    if (hasProblems(merge.problems)) return true;
    writeFree(slot, result, changed.map((path) => slot.path + path.slice(merge.path.length)));
    for (const path of changed) rememberObject(merge.root, path);
  } else return false;
  return true;
}

function mergeMap(slot: Slot, patch: JsonObject, field: FieldShape, merge: Merge): void {
  const element = field.element as FieldShape;
  if (isStrange(readSlot(slot) as object)) slot.doc.markModified(slot.path);
  for (const [key, value] of Object.entries(patch)) {
    if (PROTOTYPE_KEYS.has(key)) continue;
    checkKey(key, merge);
    const inner = deeper(merge, key);
    // No key that is not allowed gets into a document; what else is wrong is told as well.
    if (hasProblems(merge.problems)) castElement(value, field, inner);
    else mergeField(slotOf(slot, key), value, element, inner);
  }
  if (!merge.whole) return;
  for (const key of keysAt(slot)) {
    if (!Object.hasOwn(patch, key)) clear(slotOf(slot, key), element);
  }
}

/**
 * Replaces an array of embedded objects: an element that names the `_id` of one that is there is that one, and keeps
 * what a client can neither see nor set.
 */
function mergeElements(
  slot: Slot,
  list: readonly unknown[],
  field: FieldShape,
  merge: Merge,
): boolean {
  const { element } = field;
  const current = readSlot(slot);
  if (!Array.isArray(current) || element?.kind !== "object") return false;
  const same = elementsNamed(list, current);
  if (same.size === 0) return false;
  const elements = list.map((each, index) =>
    same.get(index) ?? castElement(each, field, deeper(merge, index))
  );
  if (hasProblems(merge.problems)) return false;
  writeElements(slot, elements);
  for (const [index, doc] of same) {
    const inner = { ...deeper(merge, index), whole: true };
    mergeFields({ doc, path: "" }, list[index] as JsonObject, element.shape as Shape, inner);
  }
  forgetChanges(slot.doc, `${slot.path}.`);
  forgetChanges(merge.root, `${merge.path}.`);
  return true;
}

/** Finds the elements that a list names by their `_id`; who names one again means a new one. */
function elementsNamed(
  list: readonly unknown[],
  current: readonly unknown[],
): Map<number, Document> {
  const there = new Map(current.filter(isDocument).map((each) => [String(each._id), each]));
  const named = new Map<number, Document>();
  for (const [index, each] of list.entries()) {
    const known = isJsonObject(each) ? there.get(String(each._id)) : undefined;
    if (known === undefined || known._id === undefined) continue;
    there.delete(String(known._id));
    named.set(index, known);
  }
  return named;
}

/**
 * Clears a field: an array becomes empty, a field with a default takes it, so that a later read tells the same. An object
 * stays where a client would clear with it what it can neither see nor set.
 */
function clear(slot: Slot, field: FieldShape): void {
  const { kind, type, element, shape } = field;
  if (!mustStay(slot, field)) {
    const empty = kind === "array" ? [] : isRequired(type) ? undefined : defaultOf(type, slot.doc);
    return writeSlot(slot, slot.map === undefined ? empty : undefined);
  }
  if (element !== undefined) {
    for (const key of keysAt(slot)) clear(slotOf(slot, key), element);
  }
  for (const [name, inner] of shape?.fields ?? []) {
    if (isClearable(inner)) clear(slotIn(objectAt(slot), name), inner);
  }
}

function mustStay(slot: Slot, field: FieldShape): boolean {
  const { type } = field;
  if (type !== undefined && isRequired(type) && !isRequiredAtTimes(type)) return false;
  return !isLocked(type, slot.doc) && holdsProtected(readSlot(slot), field);
}

/** An object tracks its changes itself, unless it is made of dotted paths. */
function objectAt(slot: Slot): Slot {
  const current = readSlot(slot);
  return isDocument(current) ? { doc: current, path: "" } : slot;
}

function slotIn({ doc, path }: Slot, name: string): Slot {
  return { doc, path: path === "" ? name : `${path}.${name}` };
}

function keysAt(slot: Slot): string[] {
  return [...(readSlot(slot) as Map<string, unknown>).keys()];
}

/** The place of a key of a Map. */
function slotOf(slot: Slot, key: string): Slot {
  const map = readSlot(slot) as Map<string, unknown>;
  return { doc: slot.doc, path: `${slot.path}.${key}`, map, key };
}
