import type { Document, mongo, Query } from "mongoose";
import { StoreFailure } from "../errors/failure.ts";
import { castFilter } from "../filter/cast_filter.ts";
import { isEmpty, KEEP_CONDITIONS } from "../filter/filters.ts";
import { matchAsIs, type Update } from "../schema/mongoose/statements/query_casts.ts";
import { removeThrough } from "../store/writes/remove.ts";
import { updateOne, versionOf } from "../store/writes/update.ts";
import { type SaveDocumentOptions, writeContextOf } from "./save_document.ts";
import { unchangedSinceHooks } from "./update_conditions.ts";

/** Throws "changed" if the scope, the filter or fields that hooks have read no longer match. */
export async function removeDocument(
  doc: Document,
  { scope, filter, collation, removal: update, ...options }: SaveDocumentOptions & {
    readonly removal?: Update | undefined;
  },
): Promise<void> {
  const place = writeContextOf(doc, options);
  const { _id: id } = doc;
  const conditions = [scope, filter].map((each) => castFilter(place.model, each));
  const all = [...conditions, unchangedSinceHooks(doc)].filter((each) => !isEmpty(each));
  if (update !== undefined) {
    const { isMet } = await updateOne(place, {
      id,
      filter: { _id: id, ...all.length > 0 && { $and: all } },
      update,
      change: "remove",
      projection: versionOf(place.model),
      ...collation && { options: { collation: collation as mongo.CollationOptions } },
    });
    if (!isMet) throw new StoreFailure({ kind: "changed" });
    return;
  }
  const query = doc.deleteOne().setOptions({ ...KEEP_CONDITIONS, ...collation && { collation } });
  if (all.length > 0) matchAsIs(query, { $and: all });
  await removeThrough(query as unknown as Query<mongo.DeleteResult, unknown>, { ...place, id });
}
