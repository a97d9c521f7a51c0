import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import { isDeepStrictEqual } from "node:util";
import type mongoose from "mongoose";
import type { Batch } from "../database/read_batches.ts";
import { documentsIn, identifierIn } from "../transcode/documents.ts";
import { everyFilter } from "../selection/filters.ts";
import type { JsonQuery, JsonReader } from "./json_reader.ts";
import { decodeBson } from "./stored_writer.ts";
import type { Stored } from "./stored_writer.ts";

/** The most entities that one query reads. */
const MOST = 64;

/** Entities that one query is going to read. */
interface Gathering {
  /** What the reads have in common: all but the identifier. */
  readonly query: JsonQuery;
  /** The identifiers, by their text. */
  readonly ids: Map<string, mongoose.Types.ObjectId>;
  /** Those that were found, by the same. */
  readonly found: Promise<ReadonlyMap<string, Stored>>;
}

const waiting = new WeakMap<JsonReader, Set<Gathering>>();

/** Whether reads by a query can be told apart: documents that do not show who they are cannot. */
export function isShareable({ projection }: JsonQuery): boolean {
  return projection._id === undefined || Boolean(projection._id);
}

/**
 * Reads the entity with an identifier as JSON text; `null` if a query selects none of that name. What is asked for in one
 * turn, by queries that differ in nothing else, the database reads at once.
 *
 * The wait is bounded by whoever asks.
 */
export async function readShared(
  reader: JsonReader,
  id: mongoose.Types.ObjectId,
  query: JsonQuery,
): Promise<Buffer | null> {
  let gatherings = waiting.get(reader);
  if (gatherings === undefined) waiting.set(reader, gatherings = new Set());
  const name = id.toHexString();
  const { ids, found } = findShared(gatherings, query) ?? gather(gatherings, reader, query);
  ids.set(name, id);
  const stored = (await found).get(name);
  // Each is written for itself: what cannot be written is the matter of whoever asked for it.
  return stored === undefined ? null : reader.writerFor(query).text(stored);
}

function findShared(gatherings: Iterable<Gathering>, query: JsonQuery): Gathering | undefined {
  for (const each of gatherings) {
    if (each.ids.size < MOST && isDeepStrictEqual(each.query, query)) return each;
  }
  return undefined;
}

function gather(gatherings: Set<Gathering>, reader: JsonReader, query: JsonQuery): Gathering {
  const ids: Gathering["ids"] = new Map();
  const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    gatherings.delete(gathering);
    return readAll(reader, [...ids.values()], query);
  });
  const gathering = { query, ids, found };
  gatherings.add(gathering);
  return gathering;
}

async function readAll(
  reader: JsonReader,
  ids: readonly mongoose.Types.ObjectId[],
  query: JsonQuery,
): Promise<ReadonlyMap<string, Stored>> {
  const name = { _id: ids.length === 1 ? ids[0] : { $in: ids } };
  const conditions = everyFilter(name, query.conditions);
  const found = new Map<string, Stored>();
  for await (const batch of reader.batches({ ...query, conditions })) {
    for (const each of storedIn(batch)) found.set(nameOf(each), each);
  }
  return found;
}

function storedIn(batch: Batch): readonly Stored[] {
  if ("values" in batch) return batch.values;
  return "array" in batch ? documentsIn(batch.array, batch.start) : batch.documents;
}

function nameOf(stored: Stored): string {
  if (!(stored instanceof Buffer)) return String((stored as { _id: unknown })._id);
  return identifierIn(stored) ?? nameOf(decodeBson(stored));
}
