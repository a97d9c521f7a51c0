import mongoose from "mongoose";
import type { ClientSession, Document, Model } from "mongoose";
import type { Filter } from "../query/compile_filter.ts";
import { setLastCheck } from "../mapper/last_before_save.ts";
import { castFilter } from "../selection/cast_filter.ts";
import { isEmpty } from "../selection/filters.ts";
import { adoptVersion } from "./array_versions.ts";
import { countVersion, startVersion } from "./count_version.ts";
import { judgeScope } from "./judge_scope.ts";

/** How often a save is tried that meets a change of other fields. */
const MOST_TRIES = 20;

/**
 * Saves a new or changed document: only what changed is written, the version goes up, and the scope is part of the
 * write, before and after.
 *
 * @throws {RestError} 403 if the document would be outside the scope.
 */
export async function saveDocument(
  doc: Document,
  scope: Filter,
  session?: ClientSession,
): Promise<void> {
  const cast = castFilter(doc.constructor as Model<unknown>, scope);
  setLastCheck(doc, async () => {
    if (!isEmpty(cast)) await judgeScope(doc, cast);
    await startVersion(doc);
  });
  // The wrapper keeps a scope on `_id` from taking the place of the document's own.
  if (!isEmpty(cast) && !doc.isNew) doc.$where = { $and: [cast] };
  for (let tries = 1;; tries++) {
    const settleVersion = doc.isNew ? undefined : countVersion(doc);
    try {
      await doc.save(session && { session });
      return settleVersion?.();
    } catch (error) {
      const again = error instanceof mongoose.Error.VersionError && tries < MOST_TRIES;
      if (!again || !await adoptVersion(doc)) throw error;
    }
  }
}
