import type { ClientSession, mongo } from "mongoose";

const TOUCHED = "_mongrove_touched";

interface Touch {
  /** Already cast. */
  readonly filter: object;
  readonly session: ClientSession;
}

/**
 * Locks documents against writes in other transactions, which a read would not do. One command adds and removes a
 * field, so nobody sees it.
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
 * Leaves the events of a {@linkcode touch} out of change streams. Unlike `$redact`, `$match` fails at an update whose
 * paths have over 16 MB.
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
