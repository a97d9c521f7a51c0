import type { Document, Schema } from "mongoose";
import { memoize } from "../../memoize.ts";
import { markOwn } from "../schemas/schema_members.ts";

/**
 * Lets an update of another field keep a stored value that is no list in the place of a list. Mongoose counts such a
 * value as changed when it makes the document, and a save would write the value as a list, or remove it.
 */
export const keepLoaded = memoize((schema: Schema): true => {
  const keep = markOwn(function (this: Document): void {
    for (const path of this.directModifiedPaths()) this.unmarkModified(path);
  });
  schema.post("init", keep as never);
  return true;
});
