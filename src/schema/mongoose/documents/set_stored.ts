import mongoose from "mongoose";
import type { Document, SchemaType } from "mongoose";
import { addCastError, setRaw } from "./document_values.ts";
import { readableCopy } from "./unreadable_values.ts";

const { CastError } = mongoose.Error;

/** Sets a value without running setters. A value that cannot be cast becomes a validation error. */
export function setStored(
  doc: Document,
  { path, type, value }: { path: string; type: SchemaType; value: unknown },
): void {
  const readable = readableCopy(value, type);
  try {
    const cast = readable === undefined ? undefined : type.cast(readable, doc, true, undefined, {});
    setRaw(doc, { path, value: cast });
    if (readable === undefined && value !== undefined) addCastError(doc, { path });
  } catch (reason) {
    if (!(reason instanceof mongoose.Error)) throw reason;
    addCastError(doc, reason instanceof CastError ? { path, value, reason } : { path });
  }
  doc.markModified(path);
}
