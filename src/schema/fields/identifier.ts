import mongoose from "mongoose";
import type { Types } from "mongoose";

export const IDENTIFIER = /^[0-9a-f]{24}$/i;

/** Selects the document with an identifier; `undefined` for any other text. */
export function byIdentifier(text: string): { readonly _id: Types.ObjectId } | undefined {
  return IDENTIFIER.test(text) ? { _id: new mongoose.Types.ObjectId(text) } : undefined;
}
