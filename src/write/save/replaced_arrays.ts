import type { Document, Model } from "mongoose";
import type { FieldShape, Shape } from "../../schema/fields/shape.ts";
import { keptValues } from "../../schema/mongoose/statements/find_kept.ts";
import type { Update } from "../../schema/mongoose/statements/write_as_is.ts";
import type { StoredObject } from "../apply_update.ts";
import { storedText, storedValues, valueAt } from "../stored_values.ts";

/** The other operators add to an array, or take elements out by value. */
const REPLACING = new Set(["$set", "$unset", "$pop"]);

/** Gives the arrays that an update replaces, or of which it names positions: it depends on what was read there. */
export function replacedArrays(update: Update, shape: Shape): string[] {
  const found = new Set<string>();
  for (const [operator, paths] of Object.entries(update)) {
    for (const path of Object.keys(paths)) {
      const array = arrayOn(path.split("."), shape);
      if (array !== undefined && (array !== path || REPLACING.has(operator))) found.add(array);
    }
  }
  return [...found];
}

function arrayOn([first = "", ...rest]: readonly string[], shape: Shape): string | undefined {
  let field: FieldShape | undefined = shape.fields.get(first);
  let path = first;
  for (const name of rest) {
    if (field?.kind !== "object" && field?.kind !== "map") break;
    field = field.kind === "map" ? field.element : field.shape?.fields.get(name);
    path = `${path}.${name}`;
  }
  return field?.kind === "array" ? path : undefined;
}

const remembered = new WeakMap<Document, Map<string, string>>();

/** Remembers an array before a body replaces it, where the stored values of the document were not kept. */
export function rememberArray(doc: Document, path: string): void {
  if (keptValues(doc) !== undefined) return;
  let arrays = remembered.get(doc);
  if (arrays === undefined) remembered.set(doc, arrays = new Map());
  if (!arrays.has(path)) arrays.set(path, textOf(doc, path));
}

interface StoredArray {
  readonly path: string;
  readonly stored: StoredObject;
}

/** Whether an array is known to be stored as it was when a hook read the document. */
export function isRemembered(doc: Document, { path, stored }: StoredArray): boolean {
  const text = remembered.get(doc)?.get(path);
  return text !== undefined &&
    textOf((doc.constructor as Model<unknown>).hydrate(stored), path) === text;
}

function textOf(doc: Document, path: string): string {
  return storedText(valueAt(storedValues(doc), path));
}

/** Whether arrays are the same in two states of a stored object. One that is missing is shown as an empty one. */
export function areUnchanged(
  paths: readonly string[],
  { before, now }: { readonly before: unknown; readonly now: unknown },
): boolean {
  const textIn = (state: unknown, path: string) => storedText(valueAt(state, path) ?? []);
  return before === now || paths.every((path) => textIn(before, path) === textIn(now, path));
}
