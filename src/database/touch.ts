import type { ClientSession, mongo } from "mongoose";

/**
 * The field that a transaction adds to a document and removes again, so that the document counts as written. No
 * committed document has the field.
 */
const TOUCHED = "_mongrove_touched";

interface Touch {
  /**
   * The conditions that select the documents to lock. They are sent without Mongoose, so their values must be cast
   * already.
   */
  readonly filter: object;
  readonly session: ClientSession;
}

/**
 * Locks documents in a transaction without a change of their values, so that the transaction conflicts with each
 * transaction that writes or removes one of these documents. A read would not conflict. One command adds a field to the
 * documents and removes it again, so nobody ever sees this field. Returns the number of the documents.
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
 * The stage by which change streams, such as for live lists, leave out the two change events of each {@linkcode touch},
 * which changes no value. The stage is `$redact`, because `$match` would fail at an update whose paths have more than
 * 16 MB.
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
