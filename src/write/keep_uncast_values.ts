import mongoose from "mongoose";
import type { Document } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { rawArray, rawValues, setRaw } from "../schema/mongoose/documents/document_values.ts";
import { factsOf } from "./document_facts.ts";
import { noteUnread, ownMember } from "./note_unread.ts";
import { putAt, type StoredObject, storedText } from "../store/values.ts";
import { existingSnapshot } from "./stored_values.ts";

const { Subdocument } = mongoose.Types;

/** When a field is set to a stored value, keeps values in it that Mongoose could not cast. */
export function keepUncastValues(
  doc: Document,
  { path, value }: { readonly path: string; readonly value: unknown },
): void {
  const only: StoredObject = {};
  putAt(only, { path, value });
  const facts = factsOf(doc);
  facts.setValues = new Map(facts.setValues).set(path, only);
  noteUnread(doc, only);
}

/**
 * A save of the object around a stored value that Mongoose could not cast would remove the value. Returns `true` also
 * if the request has removed the object.
 */
export function keepUncastValue(doc: Document, path: string): boolean {
  const snapshot = existingSnapshot(doc);
  const [, only] = [...factsOf(doc).setValues ?? []]
    .find(([each]) => `${path}.`.startsWith(`${each}.`)) ?? [];
  return snapshot !== undefined &&
    keepIn(path.split("."), { now: doc, before: only ?? snapshot.values, keeps: snapshot.isSent });
}

interface KeptPlace {
  readonly now: unknown;
  readonly before: unknown;
  /** `false` if the snapshot lacks values that Mongoose could not cast. */
  readonly keeps: boolean;
}

function keepIn(
  [name = "", ...rest]: readonly string[],
  { now, before, keeps }: KeptPlace,
): boolean {
  if (now === undefined || now === null) return true;
  if (isDocument(now)) {
    const held = rawValues(now)[name];
    const stored = ownMember(before, name);
    // Mongoose reads a list of scalars as a whole or not at all, so a list with elements is complete.
    const isList = Array.isArray(held) && rest.every((each) => POSITION.test(each));
    if (isList && held.length > 0) return true;
    if (rest.length > 0 && held !== undefined && !isList) {
      return keepIn(rest, { now: held, before: stored, keeps });
    }
    if (rest.length > 0 && now.isDirectModified(name)) return true;
    if (!keeps) return false;
    if (stored !== undefined) setRaw(now, { path: name, value: stored });
    return stored !== undefined || now instanceof Subdocument && name !== "";
  }
  if (Array.isArray(now)) {
    const element: unknown = rawArray(now)[Number(name)];
    const own = counterpart(element, { list: before, index: Number(name) });
    return !keeps && own === undefined || keepIn(rest, { now: element, before: own, keeps });
  }
  if (!(now instanceof Map)) return false;
  // Mongoose reports the values of a Map under the key `$*`.
  const entries = [...now].filter(([key]) => name === "$*" || key === name);
  return entries.length === 0 ||
    entries.map(([key, each]) => keepIn(rest, { now: each, before: ownMember(before, key), keeps }))
      .some(Boolean);
}

const POSITION = /^\d+$/;

function counterpart(
  element: unknown,
  { list, index }: { readonly list: unknown; readonly index: number },
): unknown {
  if (!Array.isArray(list)) return undefined;
  const id = isDocument(element) ? element._id : undefined;
  if (id === undefined || id === null) return list[index];
  return list.find((each) => isJsonObject(each) && storedText(each._id) === storedText(id));
}
