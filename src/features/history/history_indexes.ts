import { setTimeout } from "node:timers";
import type { Connection, Model } from "mongoose";
import { logHint } from "../../errors/log.ts";
import { noteBuild } from "../../schema/build_waits.ts";
import { buildsIndexes } from "../../schema/index_builds.ts";
import { runOutside } from "../../schema/mongoose/statements/transaction_around.ts";
import type { HistoryConfig } from "./history.ts";
import { historyOf } from "./history_collection.ts";

const PAUSE_MS = 60_000;

/** A failed build removes its model, so that the next write begins another build. */
const built = new WeakSet<Model<unknown>>();

/** Records can be stored without the indexes, so no write waits. */
export function keepFor(model: Model<unknown>, config: HistoryConfig): void {
  if (built.has(model) || !buildsIndexes(model)) return;
  built.add(model);
  const build = runOutside(() => buildIndexes(model, config));
  noteBuild(model.db as Connection, build);
  build.catch((error) => {
    logHint(
      `Cannot build the indexes of the history of "${model.modelName}": ${error}; it is tried again until it succeeds`,
    );
    setTimeout(() => built.delete(model), PAUSE_MS).unref();
  });
}

/** The error code if the index exists with other options. */
const OTHER_OPTIONS = 85;

async function buildIndexes(model: Model<unknown>, { keepMS }: HistoryConfig): Promise<void> {
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

async function warnOfExpiry(model: Model<unknown>): Promise<void> {
  const indexes = await historyOf(model).indexes();
  const expiring = indexes.find(({ expireAfterSeconds }) => expireAfterSeconds !== undefined);
  if (expiring === undefined) return;
  logHint(
    `The history of "${model.modelName}" has no "keep", but its index "${expiring.name}" still removes old records: drop the index`,
  );
}
