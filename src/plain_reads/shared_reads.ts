import { Buffer } from "node:buffer";
import { setImmediate } from "node:timers";
import mongoose from "mongoose";
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
  /** The identifiers, by their text. */
  readonly ids: Map<string, mongoose.Types.ObjectId>;
  /** Those that were found, by the same. */
  readonly found: Promise<ReadonlyMap<string, Stored>>;
}

/** What waits for the end of the turn, by what its queries have in common. */
const waiting = new WeakMap<JsonReader, Map<string, Gathering>>();

/** Whether reads by a query can be told apart: documents that do not show who they are cannot. */
export function isShareable({ projection }: JsonQuery): boolean {
  return projection._id === undefined || Boolean(projection._id);
}

/**
 * Reads the entity with an identifier as JSON text; `null` if a query selects none of that name. What is asked for in one
 * turn, by queries that are the same to the last byte otherwise, the database reads at once.
 *
 * The wait is bounded by whoever asks.
 */
export async function readShared(
  reader: JsonReader,
  id: mongoose.Types.ObjectId,
  query: JsonQuery,
): Promise<Buffer | null> {
  let gatherings = waiting.get(reader);
  if (gatherings === undefined) waiting.set(reader, gatherings = new Map());
  const name = id.toHexString();
  const { ids, found } = gather(gatherings, reader, query);
  ids.set(name, id);
  const stored = (await found).get(name);
  // Each is written for itself: what cannot be written is the matter of whoever asked for it.
  return stored === undefined ? null : reader.writerFor(query).text(stored);
}

/** Gives the gathering of a query, a new one where there is none or it is full. */
function gather(
  gatherings: Map<string, Gathering>,
  reader: JsonReader,
  query: JsonQuery,
): Gathering {
  const sent = bytesOf(query);
  const open = gatherings.get(sent);
  if (open !== undefined && open.ids.size < MOST) return open;
  const ids: Gathering["ids"] = new Map();
  const found = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
    if (gatherings.get(sent) === gathering) gatherings.delete(sent);
    return readAll(reader, [...ids.values()], query);
  });
  const gathering = { ids, found };
  gatherings.set(sent, gathering);
  return gathering;
}

/** A query as the database would get it, to the order of its keys: that counts in what it compares and sorts by. */
function bytesOf(query: JsonQuery): string {
  const bytes = mongoose.mongo.BSON.serialize(query, { serializeFunctions: true });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
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
