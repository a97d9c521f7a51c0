import mongoose from "mongoose";
import type { Document, Schema } from "mongoose";
import { isJsonObject, MONGOOSE_MARKS } from "../../fields/json.ts";
import { markOwnMiddleware } from "./middleware.ts";

/** Has documents read nothing under keys by which Mongoose knows its own values: it would take data for these, and fail. */
export function dropMarksOnInit(schema: Schema): void {
  schema.pre("init", dropStored as never);
}

function dropStored(this: Document, stored: unknown): void {
  // The document around it has done so.
  if (!(this instanceof mongoose.Types.Subdocument)) dropMarks(stored);
}
markOwnMiddleware(dropStored);

/** Does the same to stored values, before Mongoose applies a projection to them. */
export function dropMarks(stored: unknown): void {
  if (Array.isArray(stored)) return stored.forEach(dropMarks);
  if (!isJsonObject(stored)) return;
  for (const key of Object.keys(stored)) {
    if (MONGOOSE_MARKS.has(key)) delete (stored as Record<string, unknown>)[key];
    else if (typeof stored[key] === "object") dropMarks(stored[key]);
  }
}
