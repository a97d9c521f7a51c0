import type { Connection, mongo, Query } from "mongoose";

type Values = Record<string, unknown>;

interface CollectionHolder {
  mongooseCollection: mongo.Collection;
}

/** Runs a query of `updateOne()` with its middleware, and returns the values after the update. */
export async function updateAndRead(
  query: Query<mongo.UpdateResult, unknown>,
  projection: Readonly<Values>,
): Promise<Values | undefined> {
  const holder = query as unknown as CollectionHolder;
  const { mongooseCollection: collection } = holder;
  let stored: Values | null = null;
  const value = async (filter: object, update: object, options: object) => {
    const own = { ...options, projection, ...AFTER_WRITE };
    stored = await collection.findOneAndUpdate(filter, update, own);
    const matchedCount = stored === null ? 0 : 1;
    const counts = { matchedCount, modifiedCount: matchedCount, upsertedCount: 0 };
    return { acknowledged: true, upsertedId: null, ...counts };
  };
  holder.mongooseCollection = Object.create(collection, { updateOne: { value } });
  await query.exec();
  return stored ?? undefined;
}

/** The connection may have `raw: true`, which would return bytes. */
export const AFTER_WRITE = {
  returnDocument: "after",
  enableUtf8Validation: false,
  raw: false,
} as const;

/** With a write concern of 0, MongoDB returns no result. */
export function isTold(
  { db }: { readonly db: Pick<Connection, "db"> },
  { writeConcern = db.db?.writeConcern }: OwnConcern = {},
): boolean {
  return writeConcern?.w !== 0;
}

interface OwnConcern {
  readonly writeConcern?: mongo.WriteConcern | undefined;
}
