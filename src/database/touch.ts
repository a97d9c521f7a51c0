import type { ClientSession, mongo } from "mongoose";

/**
 * The field that a transaction adds to a document and removes again, so that the document counts as written. No
 * committed document has the field.
 */
const TOUCHED = "_mongrove_touched";

interface Touch {
  /** The conditions that select the documents, already cast. */
  readonly filter: object;
  readonly session: ClientSession;
}

/**
 * Writes documents in a transaction without a change of their values, so that the transaction conflicts with each
 * transaction that writes or removes one of these documents. A read would not conflict. The field is added and removed
 * by one command, so no reader ever sees it. Returns the number of the documents.
 */
export async function touch(
  collection: Pick<mongo.Collection, "bulkWrite">,
  { filter, session }: Touch,
): Promise<number> {
  const updates = [{ $set: { [TOUCHED]: 1 } }, { $unset: { [TOUCHED]: 1 } }];
  const { matchedCount } = await collection.bulkWrite(
    updates.map((update) => ({ updateMany: { filter, update } })),
    { session, ordered: true },
  );
  return Number(matchedCount) / updates.length;
}

/**
 * The stage of a change stream that leaves out the two events of each {@linkcode touch}. A `$match` would fail at an
 * update whose paths have more than 16 MB.
 */
export const WITHOUT_TOUCHES = {
  $redact: {
    $cond: [
      {
        $in: [
          { set: "$updateDescription.updatedFields", unset: "$updateDescription.removedFields" },
          [{ set: { [TOUCHED]: 1 }, unset: [] }, { set: {}, unset: [TOUCHED] }],
        ],
      },
      "$$PRUNE",
      "$$KEEP",
    ],
  },
};
