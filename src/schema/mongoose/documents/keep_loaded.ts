import type { Document, Schema } from "mongoose";
import { memoize } from "../../memoize.ts";
import { markOwn } from "../schemas/schema_members.ts";

/**
 * Mongoose counts a stored value that is no array, in an array field, as changed. A save of another field would
 * overwrite it.
 */
export const keepLoaded = memoize((schema: Schema): true => {
  const keep = markOwn(function (this: Document): void {
    for (const path of this.directModifiedPaths()) this.unmarkModified(path);
  });
  schema.post("init", keep as never);
  return true;
});
