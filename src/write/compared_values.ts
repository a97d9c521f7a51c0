import type { Document, Model } from "mongoose";
import { copyJson, isJsonObject } from "../schema/fields/json.ts";
import { storedText } from "../store/values.ts";
import { existingSnapshot, valuesToStore } from "./stored_values.ts";

/** Mongoose counts all values in a replaced object as modified, so values are compared with the stored values. */
export class ComparedValues {
  readonly #doc: Document;
  #now: unknown;
  #before: unknown;

  constructor(doc: Document) {
    this.#doc = doc;
  }

  isTouched(path: string): boolean {
    return this.#doc.isNew || this.#doc.isModified(path);
  }

  /** `"missing"` means that the value and its object were not stored before, and `undefined` means unchanged. */
  changeOf(path: string): "changed" | "missing" | undefined {
    if (!this.isTouched(path)) return undefined;
    const doc = this.#doc;
    const now = this.#now ??= valuesToStore(doc);
    const before = this.#before ??= doc.isNew ? undefined : storedValues(doc);
    const found = compareAt(path, { now, before });
    const isMissing = found.now === undefined || found.now === null;
    if (isMissing && !found.hasHolder) return "missing";
    return found.hasHolder && storedText(found.now) === storedText(found.before)
      ? undefined
      : "changed";
  }
}

/** The stored values are cast like the document's, so that equal values have equal types. */
function storedValues(doc: Document): unknown {
  const snapshot = existingSnapshot(doc);
  if (snapshot === undefined) return undefined;
  return valuesToStore(
    (doc.constructor as Model<unknown>).hydrate(copyJson(snapshot.values)) as Document,
  );
}

/** Array elements are matched by `_id`, because a body may have moved them. */
function compareAt(
  path: string,
  { now, before }: { readonly now: unknown; readonly before: unknown },
): { readonly now: unknown; readonly before: unknown; readonly hasHolder: boolean } {
  let [inNow, inBefore] = [now, before];
  let hasHolder = false;
  for (const name of path.split(".")) {
    hasHolder = typeof inBefore === "object" && inBefore !== null;
    const next = memberOf(inNow, name);
    inBefore = Array.isArray(inBefore) && isIdentified(next)
      ? inBefore.find((each) => isIdentified(each) && storedText(each._id) === storedText(next._id))
      : memberOf(inBefore, name);
    inNow = next;
  }
  return { now: inNow, before: inBefore, hasHolder };
}

function memberOf(holder: unknown, name: string): unknown {
  if (holder instanceof Map) return holder.get(name);
  if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, name)) {
    return undefined;
  }
  return holder[name as keyof object];
}

function isIdentified(value: unknown): value is { readonly _id: unknown } {
  return isJsonObject(value) && value._id !== undefined && value._id !== null;
}
