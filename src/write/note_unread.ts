import type { Document, Schema } from "mongoose";
import { isJsonObject } from "../schema/fields/json.ts";
import { describeShape, type FieldShape, type Shape } from "../schema/fields/shape.ts";
import { isDocument } from "../schema/mongoose/bson.ts";
import { addCastError, rawArray } from "../schema/mongoose/documents/document_values.ts";
import { pendingProblems } from "../schema/mongoose/statements/filter_errors.ts";

/**
 * Mongoose reads some stored values as missing, such as an empty string for a number. A save of an embedded object
 * would lose them, so hidden values are noted like failed casts.
 */
export function noteUnread(doc: Document, stored: unknown): void {
  noteIn(doc, { stored, shape: describeShape(doc.schema as Schema), isRoot: true });
}

interface UnreadPlace {
  readonly stored: unknown;
  readonly shape: Shape;
  readonly prefix?: string;
  readonly isRoot?: boolean;
}

function noteIn(
  doc: Document,
  { stored, shape, prefix = "", isRoot = false }: UnreadPlace,
): void {
  if (!shape.guarded) return;
  for (const [name, field] of shape.fields) {
    const before = ownMember(stored, name);
    if (before === undefined || before === null) continue;
    const path = `${prefix}${name}`;
    const now: unknown = doc.get(path, undefined, { getters: false });
    const isUnread = now === undefined || now === null ||
      now instanceof Map && !isJsonObject(before);
    if (!isUnread) noteWithin({ doc, path, now }, { stored: before, field });
    else if (!isRoot && (field.hidden || !field.selected) && !(path in pendingProblems(doc))) {
      addCastError(doc, { path });
    }
  }
}

function noteWithin(
  { doc, path, now }: { readonly doc: Document; readonly path: string; readonly now: unknown },
  { stored, field: { shape, element } }: { readonly stored: unknown; readonly field: FieldShape },
): void {
  if (isDocument(now)) noteIn(now, { stored, shape: describeShape(now.schema as Schema) });
  else if (shape !== undefined) noteIn(doc, { stored, shape, prefix: `${path}.` });
  else if (element?.shape?.guarded && Array.isArray(now)) {
    for (const [index, each] of rawArray(now).entries()) {
      if (!isDocument(each) || !Array.isArray(stored)) continue;
      noteIn(each, { stored: stored[index], shape: describeShape(each.schema as Schema) });
    }
  } else if (element?.shape?.guarded && now instanceof Map) {
    for (const [key, each] of now) {
      if (!isDocument(each)) continue;
      noteIn(each, { stored: ownMember(stored, key), shape: describeShape(each.schema as Schema) });
    }
  }
}

export function ownMember(holder: unknown, name: string): unknown {
  return isJsonObject(holder) && Object.hasOwn(holder, name) ? holder[name] : undefined;
}
