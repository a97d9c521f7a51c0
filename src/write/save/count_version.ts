import type { Document, Model } from "mongoose";
import { asVersion } from "../../schema/fields/system_fields.ts";
import { rawValues } from "../../schema/mongoose/documents/document_values.ts";
import type { KeptValues } from "../../schema/mongoose/statements/find_kept.ts";
import { forgetOddVersion, hasOddVersion } from "../../schema/mongoose/documents/fit_stored.ts";

/**
 * Makes the next save of a document count its version, which then starts at 1 if no number is stored. Mongoose's own
 * `increment()` does not count what the document does not show.
 *
 * @returns What to call after the write: the document then tells the version that was written.
 */
export function countVersion(doc: Document, { values }: KeptValues): () => void {
  const key = versionKey(doc);
  if (key === undefined) return () => {};
  const isOdd = hasOddVersion(doc);
  // A hook may have hidden it in the document.
  const before = asVersion(values[key] ?? doc.get(key)) ?? undefined;
  // Mongoose may have failed to cast it, and could not count it on.
  doc.$markValid(key);
  rawValues(doc)[key] = undefined;
  if (isOdd) doc.set(key, 1);
  else {
    doc.$inc(key, 1);
    // Without a value, Mongoose would remove the field.
    if (before !== undefined) rawValues(doc)[key] = before;
  }
  return () => {
    if (!isOdd) rawValues(doc)[key] = (before ?? 0) + 1;
    doc.unmarkModified(key);
    forgetOddVersion(doc);
  };
}

/** The field that holds the version of a document, if there is one. */
export function versionKey({ schema }: Document | Model<unknown>): string | undefined {
  const key: unknown = schema.get("versionKey");
  return typeof key === "string" ? key : undefined;
}
