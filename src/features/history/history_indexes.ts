import { setTimeout } from "node:timers";
import type { Connection, Model } from "mongoose";
import { logHint } from "../../errors/log.ts";
import { noteBuild } from "../../schema/build_waits.ts";
import { buildsIndexes } from "../../schema/index_builds.ts";
import { runOutside } from "../../schema/mongoose/statements/transaction_around.ts";
import type { HistoryRule } from "./history.ts";
import { historyOf } from "./history_collection.ts";

/** The pause before another attempt to build the indexes of a history, in milliseconds. */
const PAUSE_MS = 60_000;

/**
 * The models for whose history this process has begun to build the indexes, so that it builds them only once. A model
 * whose build has failed is removed, so that the next write of the model begins another build.
 */
const built = new WeakSet<Model<unknown>>();

/**
 * Builds the indexes of a history once for each model, and sets the time for which its records are stored. The call
 * returns at once, because records can be stored without the indexes. A failed build is logged and repeated later.
 */
export function keepFor(model: Model<unknown>, rule: HistoryRule): void {
  if (built.has(model) || !buildsIndexes(model)) return;
  built.add(model);
  const build = runOutside(() => buildIndexes(model, rule));
  noteBuild(model.db as Connection, build);
  build.catch((error) => {
    logHint(
      `Cannot build the indexes of the history of "${model.modelName}": ${error}; it is tried again until it succeeds`,
    );
    setTimeout(() => built.delete(model), PAUSE_MS).unref();
  });
}

/**
 * The code of MongoDB's error for an index that exists with other options. The TTL index of the history gets the new
 * time for which records are stored.
 */
const OTHER_OPTIONS = 85;

async function buildIndexes(model: Model<unknown>, { keepMS }: HistoryRule): Promise<void> {
  const history = historyOf(model);
  await history.createIndex({ entity: 1, version: -1, at: -1 });
  if (keepMS === undefined) return await warnOfExpiry(model);
  const expireAfterSeconds = Math.ceil(keepMS / 1000);
  await history.createIndex({ at: 1 }, { expireAfterSeconds }).catch(async (error) => {
    if (error.code !== OTHER_OPTIONS) throw error;
    const index = { keyPattern: { at: 1 }, expireAfterSeconds };
    await model.db.db?.command({ collMod: history.name, index });
  });
}

/**
 * Logs that the database still removes records of the history, because an earlier declaration had the option `keep`.
 */
async function warnOfExpiry(model: Model<unknown>): Promise<void> {
  const indexes = await historyOf(model).indexes();
  const expiring = indexes.find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  if (expiring === undefined) return;
  logHint(
    `The history of "${model.modelName}" has no "keep", but its index "${expiring.name}" still removes old records: drop the index`,
  );
}
