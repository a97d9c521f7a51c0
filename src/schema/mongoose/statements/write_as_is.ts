import type { Query } from "mongoose";
import type { Knowledge } from "../knowledge.ts";

/** An update of the database, by operator and path. */
export type Update = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** The part of a query of Mongoose that casts its update. */
interface CastingQuery {
  _castUpdate(update: Update): Update | undefined;
}

/** Has a query write an update as it is, and cast only what middleware adds: a second cast runs setters again. */
export function writeAsIs(query: object, update: Update): void {
  const casting = query as CastingQuery;
  const cast = casting._castUpdate;
  casting._castUpdate = function (all) {
    const added = Object.entries(all).map(([operator, paths]) => [
      operator,
      Object.fromEntries(
        Object.entries(paths).filter(([path]) => !Object.hasOwn(update[operator] ?? {}, path)),
      ),
    ]);
    const result: Record<string, object> = { ...cast.call(this, Object.fromEntries(added)) };
    for (const [operator, paths] of Object.entries(update)) {
      result[operator] = { ...result[operator], ...paths };
    }
    return result as Update;
  };
}

export const UPDATE_CASTS: Knowledge = {
  name: "casts of updates",
  holds({ model }) {
    const query = model.updateOne({}, {}) as Query<unknown, unknown> & CastingQuery;
    writeAsIs(query, { $set: { number: "1" } });
    const { $set } = query._castUpdate({ $set: { number: "1", date: 0 } }) ?? {};
    return $set?.number === "1" && $set?.date instanceof Date;
  },
};
