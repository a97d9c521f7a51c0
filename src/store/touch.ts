import type { ClientSession, mongo } from "mongoose";

/** No committed document has this field. */
const TOUCHED = "_mongrove_touched";

interface Touch {
  /** The conditions are sent without Mongoose, so their values must be cast already. */
  readonly filter: object;
  readonly session: ClientSession;
}

/**
 * Locks documents, so that the transaction conflicts with each transaction that writes or removes one of them, which a
 * read would not. One command adds a field and removes it again, so nobody sees this field.
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
 * Change streams leave out the two events of a {@linkcode touch}. The stage is `$redact`, because `$match` would fail
 * at an update whose paths have more than 16 MB.
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
