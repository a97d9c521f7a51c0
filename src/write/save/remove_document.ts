import type { Document, Model, mongo, Query } from "mongoose";
import { conflict } from "../../errors/refusals.ts";
import { matchAsIs } from "../../schema/mongoose/statements/query_casts.ts";
import { sendWith } from "../../schema/mongoose/statements/send_with.ts";
import { castFilter } from "../../filter/cast_filter.ts";
import { isEmpty, KEEP_CONDITIONS } from "../../filter/filters.ts";
import type { SaveDocumentOptions } from "./save_document.ts";

/** Removes a document through its own middleware; a 409 unless it is still in the scope and still selected. */
export async function removeDocument(
  doc: Document,
  { scope, filter, collation, statementOptions, together }: SaveDocumentOptions,
): Promise<void> {
  const model = doc.constructor as Model<unknown>;
  const all = [scope, filter].filter((each) => !isEmpty(each))
    .map((each) => castFilter(model, each));
  const query = doc.deleteOne().setOptions({ ...KEEP_CONDITIONS, ...collation && { collation } });
  if (all.length > 0) matchAsIs(query, { $and: all });
  const check = ({ acknowledged, deletedCount }: mongo.DeleteResult) => {
    if (acknowledged && Number(deletedCount) === 0) throw conflict();
  };
  const removal = { name: "deleteOne", statementOptions, together, check } as const;
  await sendWith(query as unknown as Query<mongo.DeleteResult, unknown>, removal);
}
